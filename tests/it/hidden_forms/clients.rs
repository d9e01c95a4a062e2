//! The forms in which a command starts a client.

use std::fs;

use crate::hidden_forms::{guard, has, run};
use crate::world::{TestWorld, in_long_form};

/// A client that leaves out hooks, and one that does not.
const BARE: &str = "claude --bare -p X";
const PLAIN: &str = "claude -p X";

/// What runs a command as it stands: `§` is its text, which has no quotes. Each with the programs that it needs.
const AROUND: &[(&str, &str)] = &[
    ("", "((x=$(§ >&2; echo 1)))"),
    ("", "echo $((1+$(§ >&2; echo 1)))"),
    ("", "for ((i=$(§ >&2; echo 1);i<1;i++)); do :; done"),
    ("", "a[$(§ >&2; echo 1)]=1"),
    ("", "bash <(echo '§')"),
    ("", "bash -x <(printf '%s\\n' '§')"),
    ("", ". <(echo '§')"),
    ("", "source <(cat <<<'§')"),
    ("", "bash < <(echo '§')"),
    ("", "bash /dev/fd/3 3<<<'§'"),
    ("", "bash -s <<<'§'"),
    ("", "echo '§' | cat | bash"),
    ("", "echo '§' | tee copy | sh"),
    ("", "bash -c \"$(echo '§')\""),
    ("", "eval \"$(echo '§')\""),
    ("", "eval $(echo '§')"),
    ("", "$(echo '§')"),
    ("", "`echo '§'`"),
    ("", "bash -c \"$(cat <<'END'\n§\nEND\n)\""),
    ("", "bash -c '\"$@\"' bash §"),
    ("", "bash -c '$*' bash §"),
    ("", "bash -c '$0 $1 $2 $3' §"),
    ("git", "git -c alias.z='!§' z"),
    ("git", "git -c core.sshCommand='§ #' fetch ssh://localhost/x"),
    ("git", "git -c alias.z='!f() { §; }; f' z"),
    ("git", "git config alias.z '!§'; git z"),
    ("git", "git submodule foreach §"),
    ("git", "git submodule --quiet foreach --recursive '§'"),
    ("git", "git fetch --upload-pack '§ #' ."),
    ("xargs", "echo '§' | xargs -I{} sh -c '{}'"),
    ("xargs", "echo '§' | xargs env"),
    ("xargs", "xargs env <<<'§'"),
    ("parallel", "parallel ::: '§'"),
    ("parallel", "parallel § ::: X"),
    ("", "if true; then { §; }; fi"),
    ("", "f() { §; }; f"),
    ("", "case a in a) § ;; esac"),
    ("", "{env,§}"),
];

/// Forms of words: a client that leaves out hooks, and an ordinary one that is near.
const WORDS: &[(&str, &str, &str)] = &[
    ("", "claude {--bare,-p} X", "claude {-p,X}"),
    ("", "claude --{bare,verbose} -p X", "claude --{debug,verbose} -p X"),
    ("", "claude -{-bare,p} X", "claude -p {X,Y}"),
    ("", "{claude,--bare,-p,X}", "{claude,-p,X}"),
    ("", "claude --{b..b}are -p X", "claude -p {1..3}"),
    ("", "claude $(echo --bare) -p X", "claude $(echo --verbose) -p X"),
    ("", "claude --$(echo bare) -p X", "claude -p \"$(echo what does --bare do)\""),
    ("", "claude `printf %s --bare` -p X", "claude -p \"$(cat notes.md)\""),
    ("", "$(echo claude --bare) -p X", "$(echo claude) -p X"),
    ("xargs", "echo --bare | xargs claude -p X", "echo go | xargs claude -p"),
    ("xargs", "echo --bare | xargs -I{} claude {} -p X", "echo go | xargs -I{} claude -p {}"),
    ("xargs", "printf '%s\\n' X --bare | xargs -n 9 claude -p", "ls | xargs -I{} claude -p 'review {}'"),
    ("xargs", "xargs claude -p X <<<--bare", "xargs claude -p <<<go"),
    ("xargs", "xargs claude -p X < <(echo --bare)", "cat prompts.txt | xargs -d '\\n' -n 1 claude -p --"),
    ("xargs", "cat options.txt | xargs claude -p X", "cat options.txt | xargs grep claude"),
    ("xargs", "<options.txt xargs -I% claude % -p X", "<options.txt xargs -I% grep % claude.md"),
    ("xargs", "echo -p X | xargs claude --bare", "git ls-files | xargs -I{} grep -l claude {}"),
    ("parallel", "parallel claude {} -p X ::: --bare", "parallel claude -p {} ::: go"),
    ("", "$CLAUDE_CODE_EXECPATH --bare -p X", "$CLAUDE_CODE_EXECPATH -p X"),
    ("", "exec \"${CLAUDE_CODE_EXECPATH}\" --bare -p X", "ls -l \"${CLAUDE_CODE_EXECPATH}\""),
    ("", "bash -c '\"$CLAUDE_CODE_EXECPATH\" --bare -p X'", "bash -c '\"$CLAUDE_CODE_EXECPATH\" -p X'"),
    ("", "x=$CLAUDE_CODE_EXECPATH; \"$x\" --bare -p X", "x=$CLAUDE_CODE_EXECPATH; \"$x\" --version"),
    ("", "printf -v o -- '--%s' bare; claude $o -p X", "printf -v o -- '--%s' verbose; claude $o -p X"),
    ("", "a=([0]=claude [1]=--bare [2]=X); \"${a[@]}\"", "a=([0]=claude [1]=-p [2]=X); \"${a[@]}\""),
    ("", "declare -A a=([c]=claude); \"${a[c]}\" --bare -p X", "declare -A a=([c]=claude); \"${a[c]}\" -p X"),
    ("which", "which claude | xargs -I{} env {} --bare X", "which claude | xargs -I{} ls -l {}"),
    ("", "find ../bin -name claude -exec {} --bare -p X \\;", "find . -name 'claude*' -exec rm -rf {} \\;"),
    ("xargs", "find ../bin -name claude -print | xargs -I{} env {} --bare", "find . -name 'claude*' | xargs rm -rf"),
    ("/lib64/ld-linux-x86-64.so.2", "LOADER claude --bare", "LOADER claude -p X"),
    ("", "bash -c 'claude \"$@\"' claude --bare -p X", "bash -c 'claude -p \"$1\"' claude X"),
    ("", "bash -c 'claude $1 -p X' claude --bare", "bash -c 'make \"$@\"' claude --bare"),
    ("git", "git -c alias.z='!claude' z --bare -p X", "git -c alias.z='!claude' z -p X"),
];

/// Ordinary commands that are near.
const ORDINARY: &[&str] = &[
    "git -c user.name='claude --bare' commit -m x",
    "git -c core.pager=cat log --grep 'claude --bare -p X'",
    "git -c alias.st='status -s' st claude",
    "git config user.name claude; git config alias.co checkout",
    "git submodule foreach 'git pull origin claude'",
    "git submodule update --init claude",
    "git stash pop stash@{0}; git log HEAD@{1} -- claude.md",
    "diff <(echo 'claude --bare') <(cat claude.md)",
    "source <(kubectl completion bash); . <(claude completion bash)",
    "grep -n x < <(echo 'claude --bare -p X')",
    "((n = $(grep -c claude notes.md) + 1))",
    "echo {claude,codex,gemini}.md; mkdir -p agents/{claude,codex}/{a,b}",
    "cp claude.md{,.bak}; touch {1..200}-claude.txt",
    "for f in claude-{a..z}.md; do wc -l $f; done",
    "find . -name 'claude*' | xargs grep -- --bare",
    "ls | xargs -I{} grep x {}; echo claude",
    "echo 'claude --bare' | tee notes.md | wc -c",
    "git commit -m \"$(cat <<'END'\nSay what claude --bare does\n\nclaude --bare -p X\nEND\n)\"",
    "claude -p \"$(cat <<'END'\nWhat does claude --bare -p do?\nEND\n)\"",
    "awk '{print $1}' claude.md; jq '{a, b: .claude}' x.json",
    "curl -d '{\"a\": 1, \"claude\": 2}' http://localhost; echo ${x:-{a,b}} claude",
    "bash -c 'echo \"$@\"' bash claude --bare -p X",
    "echo $(echo claude --bare -p X)",
    "parallel -j 4 convert {} {.}.png ::: claude-*.jpg",
    "/lib64/ld-linux-x86-64.so.2 --list /usr/bin/claude",
    "claude --teleport x -p go; claude -p 'what is ultrareview --environment?'",
];

/// A world with a client that writes down its arguments.
fn world() -> TestWorld {
    let world = TestWorld::new();
    world.script("bin/claude", &format!("echo \"$*\" >>{}", world.path("calls").display()));
    world.write("project/options.txt", "--bare\n");
    run(
        &world,
        "git init -q . && git init -q sub && git -C sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
    );
    run(&world, "git -c protocol.file.allow=always submodule --quiet add ./sub sub");
    world
}

/// Whether a shell starts a client without hooks by a command.
fn starts_bare(world: &TestWorld, command: &str) -> bool {
    let calls = world.path("calls");
    let _before = fs::remove_file(&calls);
    run(world, command);
    fs::read_to_string(calls).is_ok_and(|calls| calls.split_whitespace().any(|word| word == "--bare"))
}

fn in_form(form: &str, command: &str) -> String {
    let command = if form.starts_with("{env") { command.replace(' ', ",") } else { command.to_owned() };
    form.replace('§', &command)
}

/// Whether a form can be put into another: its quotes are taken.
fn nests(form: &str) -> bool {
    !form.contains(['\'', '"', '\n', '`', '{', '|', '#'])
}

#[test]
fn no_form_hides_a_client_without_hooks() {
    let world = world();
    let guard = guard(&world);
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let mut tried: Vec<String> = Vec::new();
    for (needs, form) in AROUND.iter().filter(|(needs, _)| has(needs)) {
        tried.push(in_form(form, BARE));
        let inner = AROUND.iter().filter(|inner| has(inner.0) && nests(inner.1) && !form.starts_with("{env"));
        let inner = inner.enumerate().filter(|(at, _)| in_long_form() || at % 3 == needs.len() % 3);
        tried.extend(inner.map(|(_, inner)| in_form(form, &in_form(inner.1, BARE))).filter(|_| in_long_form()));
    }
    let words = WORDS.iter().filter(|(needs, hidden, _)| has(needs) && !hidden.contains("LOADER"));
    tried.extend(words.map(|(_, hidden, _)| (*hidden).to_owned()));
    let (mut missed, mut idle) = (Vec::new(), Vec::new());
    for command in &tried {
        let is_refused = guard.command(command).is_some();
        if !starts_bare(&world, command) {
            idle.push(command);
        } else if !is_refused {
            missed.push(command);
        }
    }
    assert!(guard.command(&format!("{loader} /usr/bin/claude --bare")).is_some());
    // More words than are written out.
    let many = "{a,b}".repeat(12);
    assert!(guard.command(&format!("claude {many} -p X")).is_some());
    assert_eq!(guard.command(&format!("rm -rf x/{many}")), None);
    assert!(missed.is_empty(), "{} of {} are missed:\n{missed:#?}", missed.len(), tried.len());
    assert!(in_long_form() || idle.is_empty(), "{idle:#?} start none");
}

#[test]
fn a_client_with_its_hooks_passes_in_each_form() {
    let world = world();
    let guard = guard(&world);
    let around = AROUND.iter().map(|(_, form)| in_form(form, PLAIN));
    let words = WORDS.iter().map(|(_, _, ordinary)| ordinary.replace("LOADER", "/lib64/ld-linux-x86-64.so.2"));
    let ordinary = ORDINARY.iter().map(|command| (*command).to_owned());
    let all = around.chain(words).chain(ordinary);
    let refused: Vec<String> = all.filter_map(|it| Some(format!("{it}: {}", guard.command(&it)?))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn the_variable_of_its_path_is_the_client() {
    let guard = guard(&TestWorld::new());
    for program in ["\"$CLAUDE_CODE_EXECPATH\"", "${CLAUDE_CODE_EXECPATH}"] {
        for attempt in
            ["§ --bare -p go", "§ -p go --settings '{\"disableAllHooks\":true}'", "CLAUDE_CODE_SAFE_MODE=1 § -p go"]
        {
            let command = attempt.replace('§', program);
            assert!(guard.command(&command).is_some(), "{command}");
        }
        for ordinary in ["§ --version", "§ -p go", "ls -l §; file § | head", "echo § >path.txt", "cp § /tmp/c"] {
            assert_eq!(guard.command(&ordinary.replace('§', program)), None, "{ordinary}");
        }
    }
}

#[test]
fn what_works_on_another_machine_is_refused() {
    let guard = guard(&TestWorld::new());
    for command in [
        "claude --environment ccpool_1",
        "claude --environment=ccpool_1 -p go",
        "claude ultrareview",
        "claude ultrareview 12 --json",
    ] {
        assert!(guard.command(command).is_some(), "{command}");
    }
    for command in ["claude ultrareview --help", "claude --help --environment"] {
        assert_eq!(guard.command(command), None, "{command}");
    }
}
