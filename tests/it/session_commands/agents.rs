//! Orders that an agent gives: they reach its own session and those below it, and say who gave them.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::session_commands::log;
use crate::state::{load, save};
use crate::world::TestWorld;

/// The sessions: the agent's own, one that it has started, and one that it has nothing to do with.
const OWN: &str = "0aaa0001-0000";
const BELOW: &str = "0bbb0002-0000";
const OTHER: &str = "0ccc0003-0000";

fn event(world: &TestWorld, session: &str, pid: u32, name: &str) -> String {
    let input = json!({"session_id": session, "transcript_path": world.path(&format!("{session}.jsonl")), "prompt": "go",
        "cwd": world.path("project"), "prompt_id": format!("p-{session}"), "hook_event_name": name, "source": "startup"});
    world.command(&["hook"]).env("CLAUDE_PID", &pid.to_string()).stdin(input).run().ok()
}

/// Gives an order as an agent of `OWN` does: the process of this test is its client. Returns what the ordered session reads.
fn order(verb: &str, target: &str) -> (bool, String, String) {
    let world = TestWorld::new();
    let mut other = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    for (session, pid) in [(OWN, std::process::id()), (BELOW, other.id()), (OTHER, other.id())] {
        event(&world, session, pid, "SessionStart");
        event(&world, session, pid, "UserPromptSubmit");
    }
    save(&world, |store| {
        for (session, outer) in [(OWN, None), (BELOW, Some(OWN.to_owned())), (OTHER, None)] {
            let mut known = store.session(session).unwrap().unwrap();
            (known.outer, known.between) = (outer, Vec::new());
            store.save_session(&known).unwrap();
        }
    });
    let outcome = world.command(&[verb, target]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", OTHER).run();
    let session = target.strip_prefix("p-").unwrap_or(target);
    let pid = if session == OWN { std::process::id() } else { other.id() };
    let read = event(&world, session, pid, "UserPromptSubmit");
    let is_held =
        load(&world, session).0.order.is_some() || load(&world, session).1.iter().any(|run| run.order.is_some());
    assert_eq!(is_held, outcome.code == 0, "{verb} {target}: {outcome}");
    drop(other.stdin.take());
    other.wait().unwrap();
    (outcome.code == 0, outcome.stderr, read + &log(&world))
}

#[test]
fn an_agents_order_reaches_its_own_session_and_those_below_and_says_who_gave_it() {
    for verb in ["pause", "stop"] {
        for (session, is_reached) in [(OWN, true), (BELOW, true), (OTHER, false)] {
            for target in [session.to_owned(), format!("p-{session}")] {
                let (is_given, said, told) = order(verb, &target);
                assert_eq!(is_given, is_reached, "{verb} {target}: {said}");
                assert!(!told.contains("a person"), "{verb} {target}: {told}");
                assert_eq!(told.contains("an agent of session 0aaa0001"), is_reached, "{verb} {target}: {told}");
                assert!(is_reached || said.contains("another session"), "{said}");
            }
        }
    }
}
