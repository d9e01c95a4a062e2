//! The budget of a replay: the instructions for each byte of transcripts.

use std::process::Command;

use crate::fixture::{feed, static_binary};
use crate::{collected, tree};

/// How many bytes of transcripts are played.
const BYTES: usize = 8 << 20;

/// The most instructions for each byte: a twentieth above what was seen last.
const MOST_PER_BYTE: f64 = 60.0;

#[test]
fn a_replay_stays_within_its_budget() {
    let home = tempfile::tempdir().unwrap();
    let written = tree::write(&home.path().join(".claude/projects"), BYTES);
    let mut command = Command::new("valgrind");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home.path()).env("TZ", "UTC");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(static_binary());
    command.args(["replay", "--json"]).arg(home.path().join(".claude/projects"));
    let each = collected(&feed(&mut command, b"")) as f64 / written.bytes as f64;
    println!("| instructions of a replay for each byte of transcripts | {each:.1} | {MOST_PER_BYTE} |");
    assert!(each <= MOST_PER_BYTE, "a replay takes {each:.1} instructions a byte, at most {MOST_PER_BYTE}");
}
