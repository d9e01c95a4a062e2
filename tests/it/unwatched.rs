//! Clients that ask the model in a session's folder and of which no hook tells: the person is told once, and nobody is charged.

use std::fs::File;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::json;

use crate::world::TestWorld;

const OTHER: &str = "0e6f5ab1-77c2-4d0a-9f51-4c2f3f3a9f10";

fn response(at: Timestamp) -> String {
    let message = json!({"id": "m1", "model": "claude-opus-5-5", "role": "assistant", "content": [], "usage": {"output_tokens": 20}});
    format!("{}\n", json!({"type": "assistant", "uuid": "u1", "timestamp": at.to_string(), "message": message}))
}

/// Makes a row of another session's the copy that a branch has of it.
fn copied(row: &str) -> String {
    let mut row: serde_json::Value = serde_json::from_str(row).unwrap();
    row["forkedFrom"] = json!({"sessionId": "s1", "messageUuid": row["uuid"]});
    format!("{row}\n")
}

fn starts(world: &TestWorld, session: &str) {
    world.hook(world.event(session, "p1", "SessionStart", &json!({"source": "startup"}))).ok();
    world.hook(world.event(session, "p1", "UserPromptSubmit", &json!({"prompt": "go"}))).ok();
}

/// Whether the person is told when the turn of `s1` ends.
fn is_told(world: &TestWorld) -> bool {
    let answer = world.hook(world.event("s1", "p1", "Stop", &json!({}))).ok();
    answer.contains("worked here without asking Fusebox")
}

#[test]
fn a_client_of_which_no_hook_tells_is_told_of_once() {
    let world = TestWorld::new();
    starts(&world, "s1");
    world.write(&format!("{OTHER}.jsonl"), response(Timestamp::now()));
    assert!(is_told(&world));
    assert!(!is_told(&world), "again");
    let log = world.run(&["log"]).ok();
    assert!(log.contains(OTHER), "{log}");
}

/// Systems stamp a change with the last tick of their timer, some with every other second.
#[test]
fn what_is_stamped_before_it_was_written_is_told_of() {
    for (early_ms, told) in [(0, true), (10, true), (1_999, true), (60_000, false)] {
        let world = TestWorld::new();
        starts(&world, "s1");
        let (name, now) = (format!("{OTHER}.jsonl"), Timestamp::now());
        world.write(&name, response(now));
        let file = File::options().append(true).open(world.path(&name)).unwrap();
        file.set_modified(SystemTime::from(now) - Duration::from_millis(early_ms)).unwrap();
        assert_eq!(is_told(&world), told, "{early_ms} ms early");
    }
}

/// A branch that goes on without hooks has answers of its own behind its copies.
#[test]
fn what_answers_in_a_branch_is_told_of() {
    let world = TestWorld::new();
    starts(&world, "s1");
    let now = response(Timestamp::now());
    world.write(&format!("{OTHER}.jsonl"), copied(&now) + &now + &copied(&now));
    assert!(is_told(&world));
}

#[test]
fn decoys_hide_none() {
    let world = TestWorld::new();
    starts(&world, "s1");
    for decoy in 0..100 {
        world.write(&format!("0e6f5ab1-77c2-4d0a-9f51-{decoy:012}.jsonl"), "{}\n");
    }
    world.write(&format!("{OTHER}.jsonl"), response(Timestamp::now()));
    let told =
        || world.hook(world.event("s1", "p1", "Stop", &json!({}))).ok().contains("too many transcripts of clients");
    assert!(told());
    assert!(!told(), "again");
}

#[test]
fn others_that_are_no_such_clients_are_not_told_of() {
    let now = Timestamp::now();
    let earlier = now - jiff::SignedDuration::from_hours(1);
    for (what, name, content) in [
        ("a session from before the turn", OTHER, response(earlier)),
        (
            "a client that has asked nothing",
            OTHER,
            "{\"type\":\"user\",\"message\":{\"content\":\"\\\"assistant\\\"\"}}\n".to_owned(),
        ),
        ("a file of another kind", "notes", response(now + jiff::SignedDuration::from_hours(1))),
        ("a branch with nothing but copies", OTHER, copied(&response(now + jiff::SignedDuration::from_hours(1)))),
        ("rubbish", OTHER, "\"assistant\" \u{0} {".repeat(10_000)),
    ] {
        let world = TestWorld::new();
        starts(&world, "s1");
        world.write(&format!("{name}.jsonl"), content);
        assert!(!is_told(&world), "{what}");
    }
    let world = TestWorld::new();
    starts(&world, "s1");
    starts(&world, OTHER);
    world.write(&format!("{OTHER}.jsonl"), response(Timestamp::now()));
    assert!(!is_told(&world), "a session that hooks have told of");
}
