//! Subagents that a pause has cut off: whoever resumes the session reads of them, and so does the main agent, which has to wake them.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::world::FUSEBOX;

/// A session that is paused while its subagent works: the client ends the subagent, and nobody is told.
fn paused_with_a_subagent() -> Fixture {
    let mut fixture = Fixture::new();
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.begin();
    fixture.spawn("");
    assert!(fixture.step(Actor::Worker));
    fixture.world.run(&["pause", "s-0000"]).ok();
    assert!(!fixture.step(Actor::Worker), "a paused agent takes no step");
    fixture.ends_worker();
    assert!(!fixture.is_notified(), "nor does the main agent");
    fixture
}

#[test]
fn a_pauses_subagents_are_named_to_who_resumes_it_and_to_the_main_agent() {
    let mut fixture = paused_with_a_subagent();
    let said = fixture.world.run(&["resume", "s-0000"]).ok();
    assert!(said.contains("which tells it that worker a1-0000 waits for a message"), "{said}");
    let status = fixture.world.run(&["status"]).ok();
    assert!(status.contains("worker a1-0000  may go on"), "{status}");
    let next = "worker a1-0000, may go on\n    when the main agent sends it a message: ask for that in the client";
    assert!(status.contains(next), "{status}");
    assert!(fixture.prompt());
    let told = "these subagents were stopped before they were done, and may go on now: worker (run a1-0000)";
    assert_eq!(fixture.answers().matches(told).count(), 1, "{}", fixture.answers());
    assert!(fixture.prompt());
    assert_eq!(fixture.answers().matches(told).count(), 1, "it is said once: {}", fixture.answers());
}

#[test]
fn one_that_has_gone_on_meanwhile_is_named_no_more() {
    let mut fixture = paused_with_a_subagent();
    fixture.world.run(&["resume", "s-0000"]).ok();
    assert!(fixture.step(Actor::Worker), "a message has woken it");
    assert!(fixture.prompt());
    assert!(!fixture.answers().contains("may go on now"), "{}", fixture.answers());
}

/// What a person orders of a session is not said of a turn that had ended by itself.
#[test]
fn a_turn_that_had_ended_is_not_let_go_on_with_its_session() {
    for order in ["pause", "stop"] {
        let mut fixture = Fixture::new();
        fixture.begin();
        assert!(fixture.step(Actor::Main));
        fixture.stops();
        fixture.world.run(&[order, "s-0000"]).ok();
        fixture.world.run(&["resume", "s-0000"]).ok();
        let status = |fixture: &Fixture| fixture.world.run(&["status", "--all"]).ok();
        assert!(status(&fixture).contains("main p1-0000  completed"), "{order}: {}", status(&fixture));
        assert!(fixture.prompt());
        assert!(fixture.step(Actor::Main));
        let said = status(&fixture);
        assert!(said.contains("main p1-0000  completed") && said.contains("main p2-0000  running"), "{order}: {said}");
    }
}

/// Where its pause is lifted it has not done its work: programs read that until it goes on.
#[test]
fn one_that_was_paused_stays_so_until_it_goes_on() {
    let mut fixture = Fixture::new();
    fixture.begin();
    fixture.spawn("");
    assert!(fixture.step(Actor::Worker));
    fixture.world.run(&["pause", "a1-0000"]).ok();
    assert!(!fixture.step(Actor::Worker));
    fixture.ends_worker();
    let stands = |fixture: &Fixture| {
        let report = fixture.world.run(&["report", "--since", "all", "--json"]).ok();
        let report: Value = serde_json::from_str(&report).unwrap();
        let runs = report["sessions"][0]["runs"].as_array().unwrap();
        let worker = runs.iter().find(|run| run["agent_type"] == "worker").unwrap();
        json!([worker["status"], worker["stop_reason"], worker["partial"]])
    };
    let paused = json!(["paused", "explicit_pause", true]);
    assert_eq!(stands(&fixture), paused);
    fixture.world.run(&["resume", "a1-0000"]).ok();
    assert_eq!(stands(&fixture), paused);
    assert!(fixture.step(Actor::Worker), "a message has woken it");
    assert_eq!(stands(&fixture), json!(["running", null, false]));
}

#[test]
fn one_that_is_held_beside_its_session_is_taken_with_it() {
    let mut fixture = Fixture::new();
    fixture.begin();
    fixture.spawn("");
    assert!(fixture.step(Actor::Worker));
    fixture.world.run(&["stop", "a1-0000"]).ok();
    assert!(!fixture.step(Actor::Worker));
    fixture.ends_worker();
    fixture.world.run(&["pause", "s-0000"]).ok();
    let said = fixture.world.run(&["resume", "--yes"]).ok();
    assert!(said.contains("2 are held"), "{said}");
    let said = fixture.world.run(&["resume", "--yes"]).stdout;
    assert!(said.is_empty(), "nothing is held any more: {said}");
}
