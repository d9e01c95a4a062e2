//! The other files that the hook reads or writes: configuration, settings, prices, the log.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::faults::{FAULT, Fault, check, strike_all};
use crate::fixture::{Answer, Fixture, Hook, Outcome, make_pipe};
use crate::session::Session;

/// Lays something under a name that a file may have.
fn lay(path: &Path, way: usize) {
    let _earlier = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match way {
        0 => make_pipe(path),
        1 => fs::create_dir(path).unwrap(),
        2 => symlink("/dev/zero", path).unwrap(),
        3 => fs::write(path, "no JSON ".repeat(1_000)).unwrap(),
        4 => fs::write(path, format!("{{\"main\":{}}}", "[".repeat(100_000))).unwrap(),
        _ => fs::write(path, " ".repeat(50 << 20)).unwrap(),
    }
}

/// Gives a prompt, at which the configuration is looked at, then makes the call.
fn after_a_prompt(hook: Hook, event: &Value) -> Outcome {
    let fixture = hook.fixture();
    fixture.hook().tell(&Session::named(fixture, "s1").prompt()).ok();
    hook.tell(event)
}

pub const FAULTS: [Fault; 3] = [
    Fault {
        fault: "the log cannot be appended to",
        made: "a pipe, a folder, a link to `/dev/zero` under its name",
        ways: 3,
        make: |fixture, way| lay(&fixture.path("project/.claude/logs/execution-limits.log"), way),
        ..FAULT
    },
    Fault {
        fault: "the configuration is broken while a session runs",
        made: "a pipe, a folder, a link to `/dev/zero`, no JSON, JSON 100,000 deep, 50 MB under its name",
        ways: 6,
        make: |fixture, way| lay(&fixture.path("home/.claude/fusebox.json"), way),
        call: after_a_prompt,
        ..FAULT
    },
    Fault {
        fault: "the prices cannot be read",
        made: "the same under the name of `fusebox.pricing.json`",
        ways: 6,
        make: |fixture, way| lay(&fixture.path("home/.claude/fusebox.pricing.json"), way),
        ..FAULT
    },
];

#[test]
fn files_in_any_state() {
    strike_all(&FAULTS);
}

/// Files that are read where a session begins, and whether the log tells of one that is broken.
const READ_AT_A_START: [(&str, bool); 5] = [
    ("home/.claude/fusebox.json", true),
    ("project/.claude/fusebox.json", true),
    ("home/.claude/settings.json", false),
    ("project/.claude/agents/broken.md", false),
    ("project/.git", false),
];

#[test]
fn a_session_begins_whatever_its_files_are() {
    for (place, is_said) in READ_AT_A_START {
        for way in 0..6 {
            let fixture = Fixture::under(&serde_json::json!({"main": {"max_turns": 1, "warn_at": []}}));
            let before = fs::read(fixture.path(place));
            lay(&fixture.path(place), way);
            let broken = Session::named(&fixture, "s0");
            let says = if is_said { "ignored" } else { "" };
            let fault = Fault { says, ..FAULT };
            // What a client starts with binds it to its end: the one that starts here is another.
            let outcome = fixture.hook().without("CLAUDE_PID").tell(&broken.starts());
            check(&fault, &fixture, outcome, "allow").unwrap_or_else(|wrong| panic!("{place} (way {way}): {wrong}"));
            let _folder = fs::remove_dir(fixture.path(place)).or_else(|_| fs::remove_file(fixture.path(place)));
            if let Ok(text) = before {
                fixture.write(place, text);
            }
            let session = Session::begin(&fixture, "s1");
            assert_eq!(session.works("t1"), Answer::Allowed, "{place} (way {way})");
            assert_ne!(session.works("t2"), Answer::Allowed, "{place} (way {way}): the limit that is repaired");
        }
    }
}

#[test]
fn a_folder_of_agents_that_is_the_whole_disk() {
    let fixture = Fixture::under(&serde_json::json!({}));
    fs::create_dir_all(fixture.path("project/.claude")).unwrap();
    symlink("/", fixture.path("project/.claude/agents")).unwrap();
    let outcome = fixture.hook().tell(&Session::named(&fixture, "s1").starts());
    check(&Fault { says: "the others are ignored", ..FAULT }, &fixture, outcome, "allow").unwrap();
}
