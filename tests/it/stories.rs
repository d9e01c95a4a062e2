//! Stories: events in, answers out. Each folder of `tests/cases` is one: a policy, events as a reader would tell them, and
//! what Fusebox answers to each, word by word.
//!
//! `FUSEBOX_REGENERATE=1 cargo test --test it stories` writes the answers anew; read them before they are committed.

mod limits;
mod script;
pub mod script_player;
mod shared;
mod why;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fusebox::config::load;

use crate::stories::script_player::{Tells, tell};

/// Every story, in the order in which they read best.
const STORIES: [&str; 41] = [
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
    "two-dialogs-at-once",
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

/// Stories in which the client does as it is answered: what was stopped or refused does not go on.
const AS_ANSWERED: [&str; 13] = [
    "polls-that-see-change",
    "errors-with-news-between-them",
    "rejections-are-errors",
    "a-new-loop-after-progress",
    "a-batch-of-spawns",
    "slots-come-back",
    "nested-and-continued-agents",
    "agents-nobody-asked-for",
    "a-window-slides",
    "models-and-roles",
    "one-large-response",
    "a-session-below-another",
    "midnight",
];

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn every_story_ends_as_written() {
    let mut wrong = String::new();
    let everything = STORIES.map(|name| (name, Tells::Everything));
    for (name, tells) in everything.into_iter().chain(AS_ANSWERED.map(|name| (name, Tells::AsAnswered))) {
        let folder = cases().join(name);
        let (policy, problems) = load::only(&folder.join("config.json")).unwrap();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        let told = tell(&policy, &fs::read_to_string(folder.join("events.jsonl")).unwrap(), tells);
        compare(&folder, &told, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compares what was told with what is written, or writes it anew where that is asked for.
fn compare(folder: &Path, told: &str, wrong: &mut String) {
    let expected = folder.join("expected.snap");
    if fusebox::platform::environment::Environment::real().var("FUSEBOX_REGENERATE").is_some() {
        fs::write(&expected, told).unwrap();
    } else if fs::read_to_string(&expected).unwrap_or_default() != told {
        write!(wrong, "--- {} should be\n{told}", expected.display()).unwrap();
    }
}
