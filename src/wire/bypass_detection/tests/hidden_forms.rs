//! Clients and a person's commands behind programs that run others, and behind more of them than are read.

use crate::wire::bypass_detection::tests::guard;

#[test]
fn what_runs_another_program_hides_nothing() {
    let attempts = [
        "$(command -v fusebox) grant",
        "fusebox run -- claude --bare -p 'go on'",
        "fusebox run --strict -- claude --setting-sources user -p go",
        "fusebox run -- fusebox resume x",
        "claude agents --settings '{\"disableAllHooks\":true}'",
        "tmux new-session -d 'claude agents --setting-sources user'",
        "tmux -S s -f x new-session -d 'claude --bare -p go'",
        "tmux -L a run-shell 'claude --bare -p go'",
        "npm -s exec claude -- --bare -p go",
        "pnpm -C . exec claude --bare -p go",
        "uv -q run claude --bare -p go",
        "git bisect run claude --bare -p go",
        "nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice claude --bare -p go",
        "echo x >~/.claude/dev-mods/$CLAUDE_CODE_SESSION_ID/free/hooks/hooks.json",
    ];
    let missed: Vec<&str> = attempts.into_iter().filter(|attempt| guard().command(attempt).is_none()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_runs_an_ordinary_program_passes() {
    for command in [
        "fusebox run -- claude -p 'go on'",
        "tmux -S s new-session -d 'make test'",
        "npm -s exec eslint -- --fix .claude",
        "git bisect run make claude",
        "nice nice nice nice make claude",
        "ls ~/.claude/dev-mods",
    ] {
        assert_eq!(guard().command(command), None, "{command}");
    }
}
