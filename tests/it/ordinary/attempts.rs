//! What is refused, however it is wrapped.

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
