//! A turn that a person has left: no hook tells of that, and commands speak of the session as `status` does, which waits for a prompt.

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

/// A session whose person has left a turn that had used all its calls.
fn left() -> Fixture {
    let mut fixture = begin(&json!({"main": {"max_turns": 3, "warn_at": []}, "session": {"max_cost_usd": 25}}));
    assert!((0..3).all(|_| fixture.step(Actor::Main)));
    let content = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let row = json!({"type": "user", "timestamp": "2999-01-01T00:00:00.000Z", "message": {"role": "user", "content": content}});
    let path = fixture.world.path("transcripts/s-0000.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{row}\n").as_bytes()).unwrap();
    fixture
}

#[test]
fn stop_and_resume_know_that_a_session_waits_for_a_prompt() {
    let mut fixture = left();
    let said = shell(&fixture, "fusebox stop --yes");
    assert!(said.contains("the only one that is open") && !said.contains("follow"), "{said}");
    let said = shell(&fixture, "fusebox resume s-0000");
    assert!(said.contains("goes on with its next prompt") && !said.contains("stop it again"), "{said}");
    assert!(fixture.prompt() && fixture.step(Actor::Main), "the next prompt has whole limits");
}

#[test]
fn on_says_what_its_limits_will_do() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.02, "timeout_action": "request_increase"}}));
    shell(&fixture, "fusebox off");
    assert!((0..3).all(|_| fixture.step(Actor::Main)));
    let said = shell(&fixture, "fusebox on");
    assert!(said.contains("leaves too little for the next request") && !said.contains("you are asked"), "{said}");
    shell(&fixture, "fusebox off");
    assert!(fixture.step(Actor::Main));
    let said = shell(&fixture, "fusebox on");
    assert!(said.contains("is used up by now") && said.contains("where nobody can answer"), "{said}");
}
