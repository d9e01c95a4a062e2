//! Plain spellings of commands that a shell runs: of its options, its grammar, its functions, its paths, and of other languages.

use std::fs;

use crate::hidden_forms::values::{lay_out, own};
use crate::hidden_forms::{guard, has, run_by};
use crate::world::TestWorld;

/// Forms for any shell, each with what it is made of.
const FORMS: &[&str] = &[
    // A shell's options.
    "bash -c -- 'claude --bare -p X'",
    "bash -c -e 'claude --bare -p X'",
    "bash -c -o pipefail 'claude --bare -p X'",
    "bash -co pipefail 'claude --bare -p X'",
    "bash -O nullglob -c 'claude --bare -p X'",
    "bash +O nullglob +o posix -c 'claude --bare -p X'",
    "sh -e -c -- 'rm .claude/fusebox.json'",
    "bash -c -x -- '\"$@\"' bash claude --bare -p X",
    // Zero bytes.
    "$'claude\\0x' --bare -p X",
    "$'claude\\x00 --bare' --bare -p X",
    "$'cla\\0x'ude --bare -p X",
    "$'\\0x'claude --bare -p X",
    "$(printf 'cla\\0ude') --bare -p X",
    "printf 'claude\\0 --bare -p X' | sh",
    "printf 'cla\\0ude --bare -p X' | bash",
    "echo -e 'claude\\0 --bare -p X' | bash",
    "rm $'.claude/fusebox.json\\0x'",
    // The grammar.
    "time { claude --bare -p X; }",
    "time -p { claude --bare -p X; }",
    "time if true; then claude --bare -p X; fi",
    "time A=1 claude --bare -p X",
    "time ! claude --bare -p X",
    "coproc NAME { claude --bare -p X; }; wait",
    "coproc NAME if true; then claude --bare -p X; fi; wait",
    "for ((i=0;i<1;i++)) do claude --bare -p X; done",
    "for ((i=0;i<1;i++)) { claude --bare -p X; }",
    "a[0]=1 claude --bare -p X",
    "a[0]=claude; ${a[0]} --bare -p X",
    "a[1]=claude; ${a[1]} --bare -p X",
    "{fd}>copy claude --bare -p X",
    "{fd}<x claude --bare -p X",
    "set -- claude; for x do $x --bare -p X; done",
    "set -- claude; for x; do $x --bare -p X; done",
    "set -- claude; for x\ndo $x --bare -p X; done",
    // The input of several commands.
    "{ sh; } <<<'claude --bare -p X'",
    "{ :; sh; } <<<'claude --bare -p X'",
    "(:; sh) <<<'claude --bare -p X'",
    "if true; then sh; fi <<E\nclaude --bare -p X\nE",
    "while sh; do break; done <<<'claude --bare -p X'",
    "echo 'claude --bare -p X' | (:; sh)",
    "echo 'claude --bare -p X' | { :; sh; }",
    "echo 'claude --bare -p X' | if true; then sh; fi",
    "f() { sh; }; f <<<'claude --bare -p X'",
    "f() { sh; }; echo 'claude --bare -p X' | f",
    "echo 'claude --bare -p X' | bash -c ':; sh'",
    "bash -c ':; sh' <<<'claude --bare -p X'",
    // Substitutions.
    "`echo \\`echo claude\\`` --bare -p X",
    "x=`echo \\`claude --bare -p X\\``",
    "echo \"`echo \\`claude --bare -p X\\``\"",
    "`echo \\`echo \\\\\\`echo claude\\\\\\`\\`` --bare -p X",
    "$(env echo claude) --bare -p X",
    "$(command echo claude) --bare -p X",
    "$(\\builtin echo claude) --bare -p X",
    "$(/bin/echo claude) --bare -p X",
    "$(echo claude 2>/dev/null) --bare -p X",
    "$(A=1 echo claude) --bare -p X",
    "c=$(command -v claude); $c --bare -p X",
    // Functions.
    "(f() { $1 --bare -p X; }; f claude)",
    "x=$(f() { $1 --bare -p X; }; f claude)",
    "f() { echo $1; }; f() { $1 --bare -p X; }; f claude",
    "f() ( $1 --bare -p X ); f claude",
    "f() (echo \")\"; $1 --bare -p X); f claude",
    "f() if true; then $1 --bare -p X; fi; f claude",
    "f() for x in $1; do $x --bare -p X; done; f claude",
    "f() case $1 in *) $1 --bare -p X;; esac; f claude",
    "f() { sh -c \"$@\"; }; f 'claude --bare -p X'",
    "f() { for x; do $x --bare -p X; done; }; f claude",
    "set claude --bare -p X; \"$@\"",
    "set -f -- claude --bare -p X; $*",
    // A shell's name.
    "$BASH -c 'claude --bare -p X'",
    "\"${BASH}\" -c 'claude --bare -p X'",
    "$SHELL -c 'claude --bare -p X'",
    "$0 -c 'claude --bare -p X'",
    "/proc/self/exe -c 'claude --bare -p X'",
    "/proc/$$/exe -c 'claude --bare -p X'",
    "$(command -v sh) -c 'claude --bare -p X'",
    "`which sh` -c 'claude --bare -p X'",
    // The values of variables.
    "q=claudeQQ; ${q::6} --bare -p X",
    "q=claudeQQ; ${q:0:3+3} --bare -p X",
    "q=xclaude; ${q#?} --bare -p X",
    "q=claudexx; ${q%??} --bare -p X",
    "q=12claude; ${q#[0-9]?} --bare -p X",
    "q=c1l2aude; ${q//[0-9]/} --bare -p X",
    ": ${x:=claude}; $x --bare -p X",
    ": \"${x=claude}\"; $x --bare -p X",
    // Paths.
    "rm $(pwd)/.claude/fusebox.json",
    "rm \"`pwd`/.claude/fusebox.json\"",
    "x=$(pwd); rm $x/.claude/fusebox.json",
    "x=$(pwd); cd ..; rm $x/.claude/fusebox.json",
    "cd ..; rm $OLDPWD/.claude/fusebox.json",
    "cd ..; cd $OLDPWD; rm .claude/fusebox.json",
    "cd ..; cd -; rm .claude/fusebox.json",
    "rm \"$(git rev-parse --show-toplevel)/.claude/fusebox.json\"",
    "cd $(git rev-parse --show-toplevel) && rm .claude/fusebox.json",
    "rm /proc/self/cwd/.claude/fusebox.json",
    "echo 1 >/proc/$$/cwd/.claude/fusebox.json",
    "rm /proc/self/root$PWD/.claude/fusebox.json",
    // Shortened options.
    "env -C .claude rm fusebox.json",
    "env --ch=.claude rm fusebox.json",
    "env --chd .claude rm fusebox.json",
    "env --uns A claude --bare -p X",
    "env --sp='claude --bare -p X'",
    "env -vS 'claude --bare -p X'",
    "env -vS'claude --bare -p X'",
    "timeout --sig KILL 5 claude --bare -p X",
    "nice --adj 5 claude --bare -p X",
];

/// Forms of other languages, each with its program.
const LANGUAGES: &[(&str, &str)] = &[
    ("python3", "python3 -c 'import os; os.execvp(\"claude\", [\"claude\", \"--bare\", \"-p\", \"X\"])'"),
    ("python3", "python3 -c 'import os; os.execv(\"/bin/sh\", [\"sh\", \"-c\", \"claude --bare -p X\"])'"),
    ("python3", "python3 -Bc 'from os import system; system(\"claude --bare -p X\")'"),
    ("python3", "python3 -c'from os import remove; remove(\".claude/fusebox.json\")'"),
    ("perl", "perl -e 'exec \"claude --bare -p X\"'"),
    ("perl", "perl -e 'qx(claude --bare -p X)'"),
    ("perl", "perl -e '$x = qx{claude --bare -p X}'"),
    ("perl", "perl -e '$x = `claude --bare -p X`'"),
    ("perl", "perl -we 'system(\"claude --bare -p X\")'"),
    ("perl", "perl -E 'exec(\"claude\", \"--bare\", \"-p\", \"X\")'"),
    ("ruby", "ruby -e '%x(claude --bare -p X)'"),
    ("ruby", "ruby -e 'exec \"claude\", \"--bare\", \"-p\", \"X\"'"),
];

/// Forms that zsh alone reads.
const OF_ZSH: &[&str] = &[
    "repeat 1 claude --bare -p X",
    "repeat 1 { claude --bare -p X }",
    "repeat 1; do claude --bare -p X; done",
    "repeat 1 do claude --bare -p X; done",
    "() { claude --bare -p X }",
    "${:-claude} --bare -p X",
    "for x (claude) $x --bare -p X",
    "for x (a claude) { $x --bare -p X }",
    "{ : } always { claude --bare -p X }",
];

/// Ordinary commands that are near.
const ORDINARY: &[&str] = &[
    "time -o x.log make claude; command time -f %e claude -p X; time npm test -- --bare claude",
    "echo 'claude --bare -p X' | { cat; wc -l; }; echo 'claude --bare' | (cat; wc)",
    "echo 'never run claude --bare -p X'; curl -sSL https://example.com/x.sh | bash",
    "while read -r f; do echo $f; done <<<'claude --bare -p X'; echo 'claude --bare' | grep -c bare",
    "x=$(pwd); cp $x/.claude/fusebox.json copy; cat /proc/self/cwd/.claude/fusebox.json",
    "find .claude -type f | grep -v fusebox.json | xargs rm; cat $(git rev-parse --show-toplevel)/.claude/fusebox.json",
    "cd ..; ls $OLDPWD/.claude; cd -; cat .claude/fusebox.json",
    "perl -ne 'print if /claude --bare/' x; perl -pe 's/`claude --bare`/x/' x",
    "f() { echo \"$@\"; }; f claude --bare -p X; f() ( cd x && echo $1 ); f claude --bare",
    "set -e -o pipefail; set -- claude --bare; echo \"$@\"; for x; do echo $x; done",
    "$SHELL -c 'echo claude --bare -p X'; $(command -v make) claude; echo $(command -v claude) --bare",
    ": ${CLAUDE:=claude}; echo $CLAUDE --bare; : \"${x:=.claude/fusebox.json}\"; cat $x",
    "git log --grep='`claude --bare`'; echo '`claude --bare`' >notes.md",
    "m[1]=claude; echo ${m[1]} --bare; for ((i=0;i<3;i++)) do echo claude --bare; done",
    "python3 -c 'import re; re.compile(\"claude --bare\"); print(\"os.exec claude --bare\")'",
];

/// Has a shell run a command; returns whether something of the session's own changed.
fn changes(world: &TestWorld, shell: &str, command: &str) -> bool {
    lay_out(world);
    let _none = fs::remove_file(world.path("calls"));
    let before = own(world);
    run_by(world, shell, command);
    own(world) != before
}

/// Returns a form of an ordinary command.
fn ordinary(form: &str) -> String {
    form.replace("--bare", "--verbose").replace("fusebox.json", "notes.json")
}

#[test]
fn no_spelling_hides_a_command() {
    let world = TestWorld::new();
    lay_out(&world);
    run_by(&world, "bash", "git init -q .");
    let guard = guard(&world);
    let any = FORMS.iter().map(|form| ("", "bash", *form));
    let languages = LANGUAGES.iter().map(|(needs, form)| (*needs, "bash", *form));
    let of_zsh = OF_ZSH.iter().map(|form| ("zsh", "zsh", *form));
    let (mut missed, mut idle, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for (needs, shell, form) in any.chain(languages).chain(of_zsh) {
        if has(needs) && !changes(&world, shell, form) {
            idle.push(form);
        }
        if guard.command(form).is_none() {
            missed.push(form);
        }
        refused.extend(guard.command(&ordinary(form)).map(|why| format!("{}: {why}", ordinary(form))));
    }
    let is_right = missed.is_empty() && idle.is_empty() && refused.is_empty();
    assert!(is_right, "missed: {missed:#?}\ndo nothing: {idle:#?}\nrefused: {refused:#?}");
}

#[test]
fn ordinary_spellings_pass() {
    let world = TestWorld::new();
    lay_out(&world);
    let guard = guard(&world);
    let refused: Vec<String> = ORDINARY.iter().filter_map(|it| Some(format!("{it}: {}", guard.command(it)?))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
