//! More values of variables than are read, and files that a client is told to write.

use crate::wire::bypass_detection::tests::guard;

#[test]
fn more_values_than_are_read_are_refused_where_they_may_be_ours() {
    let words: String = (0..3_000).map(|at| format!("w{at} ")).collect();
    let command = format!("for x in {words} ~/.claude/fusebox.json; do rm $x; done");
    assert!(guard().command(&command).is_some());
    assert_eq!(guard().command(&format!("for x in {words}; do rm $x; done")), None);
    let words: String = (0..300).map(|at| format!("w{at} ")).collect();
    assert_eq!(guard().command(&format!("for x in {words}; do echo claude $x; done")), None);
}

#[test]
fn a_file_that_a_client_writes_is_one_that_is_written() {
    let refused = [
        "claude -p x --debug-file ~/.claude/settings.json",
        "claude -p x --debug-file=.claude/settings.local.json",
        "claude --debug-file ~/.claude/fusebox.json -p x",
        "claude -p --debug-file=/opt/bin/fusebox x",
        "cd ~/.local/state && claude -p x --debug-file fusebox/state.db",
        "claude mcp list --debug-file .claude/fusebox.json",
        "timeout 9 npx @anthropic-ai/claude-code -p x --debug-file .claude/fusebox.json",
        "env -C .claude claude --debug-file fusebox.json -p x",
        "x=.claude/fusebox.json; claude --debug-file $x -p x",
        "claude -p x -- --debug-file .claude/fusebox.json",
        "CLAUDE_CODE_DEBUG_LOGS_DIR=~/.claude/fusebox.json claude -p x",
        "export CLAUDE_CODE_DEBUG_LOGS_DIR=~/.claude/settings.json; claude -p x",
        "claude mcp add y -- claude mcp serve --debug-file ~/.claude/fusebox.json",
    ];
    let missed: Vec<&str> = refused.into_iter().filter(|command| guard().command(command).is_none()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for command in [
        "claude -p x --debug-file /tmp/debug.log",
        "claude -p x --debug-file=debug.txt --model opus",
        "CLAUDE_CODE_DEBUG_LOGS_DIR=/tmp/logs claude -p x",
        "claude -p 'what is --debug-file for?'",
        "claude --debug -p x",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
