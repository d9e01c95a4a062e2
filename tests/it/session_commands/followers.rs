//! Agents that are held with the one above them follow it, whatever is ordered and lifted, and whatever was spent in between.

use serde_json::json;

use crate::session_commands::fixture::{Actor, Fixture};

/// A main agent with a subagent at work, both of which take a step after the limits of `main` are set.
fn with_a_worker(main: &serde_json::Value) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", json!({"main": main}).to_string());
    fixture.begin();
    fixture.spawn("");
    assert!(fixture.step(Actor::Worker));
    fixture
}

fn word(fixture: &Fixture, begins: &str) -> String {
    let status = fixture.world.run(&["status", "--all"]).ok();
    let line = status.lines().map(str::trim_start).find(|line| line.starts_with(begins)).unwrap_or_default();
    line.split("  ").nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_subagent_that_was_paused_with_its_parent_goes_on_with_it_although_more_was_spent() {
    let mut fixture = with_a_worker(&json!({"max_cost_usd": 0.05, "timeout_action": "pause"}));
    assert!((0..20).any(|_| !fixture.step(Actor::Main)), "nothing pauses it");
    assert!(!fixture.step(Actor::Worker), "who is below follows");
    fixture.ends_worker();
    // What is used by now is noted where an event is refused.
    fixture.responds(Actor::Main);
    assert!(!fixture.prompt());
    assert_eq!(word(&fixture, "worker a1-0000"), "paused");
    fixture.world.run(&["resume", "p1-0000"]).ok();
    assert_eq!(word(&fixture, "worker a1-0000"), "may go on");
}

#[test]
fn a_stop_after_a_pause_reaches_those_that_were_paused_with_it() {
    for (whom, waits) in [("p1-0000", "stopped"), ("s-0000", "stopped")] {
        let mut fixture = with_a_worker(&json!({}));
        fixture.world.run(&["pause", whom]).ok();
        assert!(!fixture.step(Actor::Worker));
        fixture.ends_worker();
        assert_eq!(word(&fixture, "worker a1-0000"), "paused", "{whom}");
        fixture.world.run(&["stop", whom]).ok();
        assert_eq!(word(&fixture, "worker a1-0000"), waits, "{whom}");
        fixture.world.run(&["resume", whom]).ok();
        assert_eq!(word(&fixture, "worker a1-0000"), "may go on", "{whom}");
    }
}

/// A run that a person has let go on is taken up once: the next prompt of theirs after that has a run of its own.
#[test]
fn the_prompt_after_one_that_went_on_has_a_run_of_its_own() {
    let mut fixture = with_a_worker(&json!({"max_turns": 3, "grace_turns": 0}));
    assert!((0..9).any(|_| !fixture.step(Actor::Main)));
    fixture.stops();
    fixture.world.run(&["resume", "p1-0000"]).ok();
    fixture.ends_worker();
    assert!(fixture.hears_of_worker(), "what its subagent sends goes on with the run");
    assert!(fixture.step(Actor::Main));
    fixture.stops();
    assert!(fixture.prompt());
    assert!(fixture.step(Actor::Main));
    let status = fixture.world.run(&["status", "--all"]).ok();
    assert_eq!(status.matches("  main p").count(), 2, "{status}");
}

/// The main agent is no run below its session.
#[test]
fn only_runs_below_what_is_held_are_said_to_follow() {
    for verb in ["pause", "stop"] {
        for whom in ["s-0000", "p1-0000"] {
            let mut fixture = Fixture::new();
            fixture.begin();
            assert!(fixture.step(Actor::Main));
            let said = fixture.world.run(&[verb, whom]).ok();
            assert!(!said.contains("follow"), "{verb} {whom}: {said}");
            let said = with_a_worker(&json!({})).world.run(&[verb, whom]).ok();
            assert!(said.contains("1 run below it follows"), "{verb} {whom}: {said}");
        }
    }
}
