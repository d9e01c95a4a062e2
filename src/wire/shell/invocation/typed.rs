//! The programs that have a text run later or elsewhere: they type it into another terminal, or put it into a table of `cron`.

use crate::wire::shell::invocation::runners::{Row, Runs};

/// Stands for the first of the five times before a command in a table of `cron`.
pub(super) const TIMES: &str = "*";
/// Stands for the word before one that says how often it runs: `@daily`.
pub(super) const OFTEN: &str = "@";

/// The programs, as in the table of those that run another.
pub(super) const ROWS: &[Row] = &[
    ("crontab", &[], Runs::Input, &["-u"]),
    (TIMES, &[], Runs::Words(4), &[]),
    (OFTEN, &[], Runs::Words(0), &[]),
    (
        "tmux",
        &["send-keys", "send", "set-buffer", "setb"],
        Runs::Each,
        &["-t", "-N", "-b", "-n", "-c", "-L", "-S", "-f"],
    ),
    ("stuff", &[], Runs::Each, &[]),
    ("send-text", &[], Runs::Each, &["-m", "--match", "-t", "--match-tab", "--pane-id", "--from-file"]),
    ("write-chars", &[], Runs::Each, &["-p", "--pane-id"]),
    ("kitty", &["@"], Runs::Words(0), &["--to", "--password"]),
    ("kitten", &["@"], Runs::Words(0), &["--to", "--password"]),
    ("wezterm", &["cli"], Runs::Words(0), &["--class"]),
    ("zellij", &["action", "run"], Runs::Words(0), &["-s", "--session"]),
    ("xdotool", &["type", "search"], Runs::Each, &["--delay", "--window", "--name", "--class"]),
    ("ydotool", &["type"], Runs::Each, &["-d", "--key-delay", "-D", "--next-delay"]),
    ("wtype", &[], Runs::Each, &["-d", "-s", "-k", "-M", "-m", "-P", "-p"]),
];
