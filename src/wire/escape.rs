//! Shell commands that plainly go where no hook is asked: a client that is started without hooks or for another home, and the
//! end of Fusebox's own processes.

/// What a client's start is given so that the hooks of this session do not run in it, or not with this session's state.
const UNHOOKED: [&str; 8] = [
    "--bare",
    "--safe-mode",
    "--setting-sources",
    "disableAllHooks",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CONFIG_DIR=",
    "XDG_STATE_HOME=",
    // `FUSEBOX_HOME` too.
    "HOME=",
];

/// Commands that end or hold the processes that they are given by name.
const ENDERS: [&str; 2] = ["pkill", "killall"];

/// Commands that open a database, or hold a file that others need.
pub const HOLDERS: [&str; 4] = ["sqlite3", "flock", "chattr", "mount"];

/// Says what a shell command does, where it would go on without Fusebox.
pub fn seen(command: &str) -> Option<String> {
    if command.contains("claude")
        && let Some(how) = UNHOOKED.iter().find(|how| command.contains(*how))
        && words(command).any(is_client)
    {
        return Some(format!("a client with `{how}`, in which Fusebox's hooks would not be this session's"));
    }
    let ends = || words(command).any(|word| ENDERS.contains(&word));
    (command.contains("fusebox") && ends()).then(|| "Fusebox's own processes".to_owned())
}

/// Whether a word names the client: by its command, or by the package that it is started from.
fn is_client(word: &str) -> bool {
    word.rsplit('/').next() == Some("claude") || word.contains("claude-code")
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| c.is_whitespace() || "\"';&|()`<>".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_go_on_without_hooks_is_seen_and_nothing_else() {
        for (command, is_seen) in [
            ("claude --bare -p 'go on'", true),
            ("cd /tmp && /opt/bin/claude -p go --settings '{\"disableAllHooks\":true}'", true),
            ("CLAUDE_CODE_SIMPLE=1 claude -p go", true),
            ("env HOME=/tmp/x npx @anthropic-ai/claude-code -p go", true),
            ("pkill -9 fusebox", true),
            ("while true; do killall -STOP fusebox; done", true),
            ("claude -p 'go on'", false),
            ("git clone --bare .", false),
            ("HOME=/tmp ls .claude", false),
            ("grep -r 'claude --bare'", true),
            ("pkill node", false),
        ] {
            assert_eq!(seen(command).is_some(), is_seen, "{command}");
        }
    }
}
