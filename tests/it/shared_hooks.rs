//! The lines by which a repository's settings call Fusebox for everybody: with Fusebox they are its hook, without it they let all pass,
//! and say once how to get it.

use fusebox::install::handler::{GUARDED_LINE, TOLD_MISSING, guarded_start};
use fusebox::messages::to_people;
use serde_json::{Value, json};

use crate::world::{Invocation, Outcome, TestWorld};

/// Prepares a line as a client does, with nothing but these folders on the PATH.
fn prepared<'a>(world: &'a TestWorld, line: &str, path: &str) -> Invocation<'a> {
    world.program("/bin/sh", &["-c", line]).env("PATH", path).stdin("in")
}

/// Starts a session without Fusebox, in a client that was started as `entrypoint` says.
fn start(world: &TestWorld, entrypoint: &str) -> Outcome {
    let empty = world.path("bin").display().to_string();
    prepared(world, &guarded_start(), &empty).env("CLAUDE_CODE_ENTRYPOINT", entrypoint).run()
}

#[test]
fn with_fusebox_its_answer_and_exit_code_are_handed_on() {
    let world = TestWorld::new();
    world.script("bin/fusebox", "echo \"$1:\"; cat; exit 7");
    let path = format!("{}:/bin:/usr/bin", world.path("bin").display());
    for line in [GUARDED_LINE, &guarded_start()] {
        assert_eq!(prepared(&world, line, &path).run().to_string(), "hook:\nin[exit 7]", "{line}");
    }
    assert_eq!(world.files("home"), "");
}

#[test]
fn without_fusebox_the_first_session_in_a_terminal_says_how_to_get_it() {
    let world = TestWorld::new();
    let empty = world.path("bin").display().to_string();
    insta::assert_snapshot!(prepared(&world, GUARDED_LINE, &empty).run(), @"[exit 0]");
    insta::assert_snapshot!(start(&world, "cli"), @r#"
    {"systemMessage":"This repository limits its agents with Fusebox, which is not on your PATH: nothing is limited. Whoever keeps .claude/fusebox.json says where to get it."}
    [exit 0]
    "#);
    assert_eq!(world.files("home"), format!("home/.claude/{TOLD_MISSING}"));
    for entrypoint in ["cli", "sdk-cli"] {
        assert_eq!(start(&world, entrypoint).ok(), "", "{entrypoint}");
    }
}

#[test]
fn what_nobody_has_read_is_said_again() {
    let said = format!("{}\n", json!({ "systemMessage": to_people::program_missing() }));
    // Nobody reads what a headless client is told; and what cannot be written down is not known.
    for (entrypoint, folder) in [("sdk-cli", "home/.claude"), ("cli", "no such folder")] {
        let mut world = TestWorld::new();
        world.set("CLAUDE_CONFIG_DIR", world.path(folder));
        for _ in 0..2 {
            let told = start(&world, entrypoint).ok();
            let (told, said): (Value, Value) =
                (serde_json::from_str(&told).unwrap(), serde_json::from_str(&said).unwrap());
            assert_eq!(told, said, "{entrypoint}");
        }
    }
    // A newer client says itself whether somebody is there.
    let mut world = TestWorld::new();
    world.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    assert_ne!(start(&world, "cli").ok(), "");
    assert_ne!(start(&world, "cli").ok(), "");
}
