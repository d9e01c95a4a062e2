//! Stories: events in, answers out. Each folder of `tests/cases` is one: a policy, events as a reader would tell them, and
//! what Fusebox answers to each, word by word.
//!
//! `FUSEBOX_REGENERATE=1 cargo test --test it stories` writes the answers anew; read them before they are committed.

mod script;
mod teller;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::config::load;

use crate::stories::teller::tell;

/// Every story, in the order in which they read best.
const STORIES: [&str; 40] = [
    "max-turns",
    "max-requests",
    "max-duration",
    "max-duration-in-a-command",
    "max-wall",
    "max-cost",
    "max-cost-without-room-to-report",
    "max-tokens",
    "grace-0",
    "grace-2",
    "parallel-refusals",
    "finalize-tools",
    "pause-and-resume",
    "pause-of-a-subagent",
    "warn-once",
    "early-warnings",
    "warn-at",
    "remaining-each-turn",
    "increase-yes",
    "increase-of-its-own-size",
    "increase-no",
    "increase-siblings",
    "increase-unattended",
    "increase-of-cost",
    "session-limits",
    "session-cost",
    "descendants-stop",
    "parent-told-foreground",
    "parent-told-background",
    "notification-to-a-stopped-run",
    "idle-time",
    "notification-to-a-run-without-money",
    "prompts-mid-run",
    "notification-continues-the-root-run",
    "duplicate-events",
    "calls-the-client-rejects",
    "observe",
    "unknown-event",
    "message-goes-on-with-the-run",
    "two-limits-at-once",
];

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn every_story_ends_as_written() {
    let regenerate = fusebox::world::World::real().var("FUSEBOX_REGENERATE").is_some();
    let mut wrong = String::new();
    for name in STORIES {
        let folder = cases().join(name);
        let (policy, problems) = load::only(&folder.join("config.json")).unwrap();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        let told = tell(&policy, &fs::read_to_string(folder.join("events.jsonl")).unwrap());
        let expected = folder.join("expected.snap");
        if regenerate {
            fs::write(&expected, &told).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != told {
            write!(wrong, "--- tests/cases/{name}/expected.snap should be\n{told}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
