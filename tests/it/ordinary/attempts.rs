//! What is refused, however it is wrapped, and in a time that a long command does not stretch.

use crate::ordinary::{refused_command, with_mention};

/// What is refused as it stands. Those with a redirection or a variable before them are wrapped as text alone.
const ATTEMPTS: [&str; 38] = [
    "fusebox grant s1 max_turns=+5",
    "fusebox resume s1",
    "fusebox reset s1",
    "fusebox reload",
    "fusebox trust",
    "fusebox uninstall",
    "fusebox prune",
    "fusebox init --observe",
    "/home/you/.cargo/bin/fusebox --json grant s1",
    "claude --bare -p go",
    "claude -p go --safe-mode",
    "claude --setting-sources user -p go",
    "claude --setting-sources= -p go",
    "claude -p go --settings {\\\"disableAllHooks\\\":true}",
    "claude --bg go",
    "npx -y @anthropic-ai/claude-code@2 --bare -p go",
    "rm -rf /home/you/.local/state/fusebox",
    "rm .claude/fusebox.json",
    "rm -rf ~/.claude",
    "mv .claude zz",
    "find .claude -delete",
    "rsync -a x/.claude/ .claude/",
    "git restore .claude",
    "claude {--bare,-p} go",
    "mv .claude/fusebox.local.json ..",
    "cp x/fusebox.json .claude",
    "ln -sf /dev/null .claude/fusebox.json",
    "sed -i s/3/99/ .claude/fusebox.json",
    "truncate -s 0 .claude/fusebox.json",
    "git checkout HEAD~3 -- .claude/fusebox.json",
    "tee /home/you/.claude/fusebox.json",
    "chmod -x /home/you/.cargo/bin/fusebox",
    "sqlite3 /home/you/.local/state/fusebox/state.db",
    "flock /home/you/.local/state/fusebox/locks/all sleep 99",
    "pkill -9 -x fusebox",
    "killall -STOP fusebox",
    "CLAUDE_CODE_SAFE_MODE=1 claude -p go",
    "echo x >.claude/fusebox.json",
];

/// Ways to run a command through another program: `§` is its words.
const BY_WORDS: [&str; 21] = [
    "env §",
    "env -u CLAUDECODE X=1 §",
    "/usr/bin/env -i HOME=$HOME §",
    "nohup § &",
    "setsid --fork §",
    "timeout -k 5 30 §",
    "nice -n 19 §",
    "ionice -c 3 §",
    "stdbuf -oL §",
    "exec §",
    "command §",
    "sudo -E §",
    "xargs -n 1 §",
    "find . -maxdepth 0 -exec § \\;",
    "find . -type f -name *.md -exec § \\;",
    "watch -n 1 §",
    "fd -x §",
    "fdfind . src -X §",
    "fd -e md --exec §",
    "strace -f -o /dev/null §",
    "flock /tmp/lock §",
];

/// Ways to run a text: `§` stands as it is, `'§'` and `"§"` in quotes.
const BY_TEXT: [&str; 24] = [
    "§",
    "true && §",
    "false || §; true",
    "cd . ; §",
    "( § )",
    "{ §; }",
    "if true; then §; fi",
    "for i in 1 2; do §; done",
    "while §; do sleep 1; done",
    "case x in x) § ;; esac",
    "f() { §; }; f",
    "x=$( § )",
    "echo \"$( § )\"",
    "echo `§`",
    "cat <(§)",
    "echo y | §",
    "§ 2>&1 | tee out.txt",
    "sh -c '§'",
    "bash -lc \"§\"",
    "env X=1 bash -euo pipefail -c '§'",
    "eval '§'",
    "script -qc '§' /dev/null",
    "bash <<'END'\n§\nEND",
    "trap '§' EXIT",
];

fn wrapped(way: &str, attempt: &str) -> String {
    with_mention(way, attempt, "")
}

#[test]
fn attempts_are_refused_however_they_are_wrapped() {
    let mut missed = Vec::new();
    let mut count = 0;
    for attempt in ATTEMPTS {
        let begins_with_program = !attempt.starts_with("CLAUDE_CODE");
        let by_words = BY_WORDS.iter().filter(|_| begins_with_program).map(|way| way.replace('§', attempt));
        let once: Vec<String> = by_words.chain(BY_TEXT.map(|way| wrapped(way, attempt))).collect();
        // What ends a here-document or a backtick's text cannot stand in it.
        let ends = |way: &str, inner: &str| way.contains("<<") || (way.contains('`') && inner.contains(['`', '\\']));
        let pairs = BY_TEXT.iter().flat_map(|way| once.iter().map(move |inner| (*way, inner.as_str())));
        let twice = pairs.filter(|(way, inner)| !ends(way, inner)).map(|(way, inner)| wrapped(way, inner));
        for command in once.iter().cloned().chain(twice) {
            count += 1;
            missed.extend(refused_command(&command).is_none().then_some(command));
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {count} are not refused:\n{}",
        missed.len(),
        missed[..missed.len().min(40)].join("\n")
    );
}

/// Pieces of which an agent can make a long command: each begins something, or is looked up, again and again.
const REPEATED: [&str; 69] = [
    "$(",
    "`",
    "(",
    "\"$(",
    "${",
    "<(",
    "$((",
    "((a) ",
    "a=(",
    "case x in ",
    "<<E ",
    "<<E;",
    "<<E\n",
    "$'",
    "{ ",
    "a;",
    ">a;",
    ">.claude/fusebox.json.x;",
    "A=1 ",
    "export HOME=$HOME;",
    "FUSEBOX_A=1;$(a)",
    "env ",
    "env -u HOME ",
    "eval ",
    "eval \"",
    "sh -c '",
    "find . -exec ",
    "find . -exec a ; ",
    "xargs ",
    "rm fusebox/../fusebox ",
    "cp fusebox/a ",
    "curl -o -o ",
    "cd a/b/c/d/e/f;rm fusebox/a;",
    "cd fusebox;$(rm a);",
    "claude --settings ",
    "claude --settings {\"env\":{\"A\":1}};",
    "git -C fusebox checkout fusebox;",
    "pkill fusebox.x ",
    "sqlite3 fusebox ';;;;' ",
    "sleep 1;",
    "x=claude;cat $x;",
    "(x=claude;cat $x);",
    "x+=claude;",
    "x=$x$x;",
    "true && x=$x;",
    "cat ${x:-claude};",
    "${x:-",
    "echo ${x:-a}|cat ${y:-b}|",
    "{ echo ${x:-a};cat ${y:-b}; }|",
    "echo ${x:-a}${y:-b}|tee ${z:-c}|",
    "x=a;x+=b;true || x=c;cat $x $x|",
    "$(dirname ",
    "a+=(a b);cat ${a[@]};",
    "for x in a b; do rm $x fusebox/a; done;",
    "read x <<<claude;",
    "export x=$(which fusebox);",
    "x=fuse;${x%e}${x/f/${y}};",
    "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;${x%%*a*b*c};",
    "fuse${x}box $x ",
    "f() { f $1; f $1; };f a;",
    "f() { x=$1;cd $x;rm $x; };f a;cd b;",
    "f() { cd a;x+=$1; };f b;",
    "A=1 >a ",
    "x=$(echo a);for x in $(echo a b);do cd $(echo $x);done;",
    "alias a='b b';alias b='a a';a a;",
    "a=(a b);${a[0]}${a[1]};",
    "printf '%s%s%s' a b c|sh;",
    "declare -n x=y;y=$x;",
    "python3 -c 'run(run(run(\"fusebox\"';",
];

/// The time that this thread has worked counts: other programs may have the processors meanwhile.
#[cfg(unix)]
#[test]
fn a_long_command_is_read_in_time() {
    use rustix::time::{ClockId, clock_gettime};

    for piece in REPEATED {
        for start in ["", "echo claude fusebox;"] {
            let command = format!("{start}{}", piece.repeat(120_000 / piece.len()));
            let began = clock_gettime(ClockId::ThreadCPUTime);
            let _any = refused_command(&command);
            let worked = clock_gettime(ClockId::ThreadCPUTime) - began;
            assert!(worked.tv_sec < 2, "{start}{piece}: {worked:?}");
        }
    }
}
