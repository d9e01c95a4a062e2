//! A person's word is taken as it is said: a grant gives no more than that, never does harm, and whatever is too little is said.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::{commands, shell};
use crate::session_commands::prompt_block::begin;

fn ended(holder: &str, limits: &Value, action: &str) -> Fixture {
    let mut limits = limits.clone();
    limits["timeout_action"] = json!(action);
    limits["grace_turns"] = json!(0);
    let mut fixture = begin(&json!({holder: limits}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "{holder} {limits} holds nothing");
    fixture.stops();
    fixture
}

/// Limits of which a step uses more than the little that is granted.
fn little() -> [(Value, &'static str); 3] {
    [
        (json!({"max_cost_usd": 0.09}), "max_cost_usd=+0.001"),
        (json!({"max_tokens": 16_000}), "max_tokens=+10"),
        (json!({"max_requests": 4}), "max_requests=+1"),
    ]
}

#[test]
fn resume_with_a_grant_gives_what_was_said_and_no_more() {
    for (holder, id) in [("session", "s-0000"), ("main", "p1-0000")] {
        for action in ["terminate", "pause"] {
            for (limits, more) in little() {
                let fixture = ended(holder, &limits, action);
                let said = shell(&fixture, &format!("fusebox resume {id} --grant {more}"));
                assert!(!said.contains("raised by its increase"), "{holder} {action} {more}: {said}");
                let enough = said.split('`').skip(1).step_by(2).find(|words| words.contains("=+"));
                let is_told = said.contains("is not enough") && said.contains("is enough");
                assert_eq!(is_told, enough.is_some(), "{holder} {action} {more}: {said}");
                let Some(enough) = enough.map(str::to_owned) else { continue };
                let mut fixture = ended(holder, &limits, action);
                shell(&fixture, &format!("fusebox resume {id} --grant {more}"));
                let said = shell(&fixture, &format!("fusebox grant {id} {enough}"));
                assert!(!said.contains("not enough"), "{holder} {action} {more}: {enough}: {said}");
                assert!(fixture.goes_on(Actor::Main), "{holder} {action} {more}: {enough}: {said}");
            }
        }
    }
}

/// The next prompt after a main agent's end has whole limits: too small a grant must not take that away.
#[test]
fn a_grant_that_is_too_small_leaves_the_next_prompt_whole() {
    for (limits, more) in little() {
        let mut fixture = ended("main", &limits, "terminate");
        let said = shell(&fixture, &format!("fusebox grant p1-0000 {more}"));
        let status = shell(&fixture, "fusebox status");
        if said.contains("not enough") {
            assert!(said.contains("starts afresh") && !status.contains("may go on"), "{more}: {said}{status}");
            assert!(status.contains("The next prompt starts afresh"), "{more}: {status}");
        }
        // Where it is just enough the agent goes on, for as long as that.
        assert!(fixture.prompt(), "{more}: {said}{status}");
        assert!(!said.contains("not enough") || fixture.step(Actor::Main), "{more}: {said}{status}");
    }
}

/// What a person lets go on is stopped at once where a limit is used up, whoever's it is: that is said, and what is enough.
#[test]
fn whoever_resumes_is_told_of_every_limit_that_would_stop_it_again_at_once() {
    for (holder, limits) in [("main", json!({"max_turns": 2})), ("session", json!({"max_turns": 2}))] {
        for lever in ["stop", "pause"] {
            for id in ["s-0000", "p1-0000"] {
                let held = || {
                    let mut limits = limits.clone();
                    limits["grace_turns"] = json!(0);
                    let mut fixture = begin(&json!({holder: limits}));
                    assert!(fixture.step(Actor::Main) && fixture.step(Actor::Main));
                    shell(&fixture, &format!("fusebox {lever} {id}"));
                    fixture.step(Actor::Main);
                    fixture.stops();
                    fixture
                };
                let mut fixture = held();
                let said = shell(&fixture, &format!("fusebox resume {id}"));
                let told = commands(&said).into_iter().find(|command| command.starts_with("fusebox grant"));
                let goes_on = fixture.goes_on(Actor::Main);
                assert_eq!(goes_on, told.is_none(), "{holder} {lever} {id}: goes on: {goes_on}\n{said}");
                let Some(told) = told else { continue };
                let mut fixture = held();
                shell(&fixture, &format!("fusebox resume {id}"));
                let granted = shell(&fixture, &told);
                assert!(fixture.goes_on(Actor::Main), "{holder} {lever} {id}: {told}\n{said}{granted}");
            }
        }
    }
}

/// Nobody's counters are set to zero who was not named, unless a person has said yes.
#[test]
fn a_reset_without_an_id_asks() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 9}}));
    assert!(fixture.step(Actor::Main) && fixture.step(Actor::Main));
    fixture.stops();
    let said = shell(&fixture, "fusebox reset");
    assert!(said.contains("`fusebox reset s-0000`") && said.contains("--yes"), "{said}");
    assert!(!said.ends_with("[exit 0]"), "{said}");
    let before = shell(&fixture, "fusebox status");
    assert!(!before.contains("before the reset") && !before.contains("0.00/9.00"), "{before}");
    let said = shell(&fixture, "fusebox reset --yes");
    assert!(said.contains("session s-0000 counts from zero again"), "{said}");
    let after = shell(&fixture, "fusebox status");
    assert!(after.contains("before the reset, and in no limit: 0.0") && after.contains("0.00/9.00"), "{after}");
}

/// What a second limit holds goes on after more of that, and not before.
#[test]
fn no_answer_says_that_work_goes_on_and_that_it_is_blocked() {
    let session = json!({"max_cost_usd": 0.04, "timeout_action": "terminate", "grace_turns": 0});
    for command in ["grant s-0000 max_cost_usd=+1", "resume s-0000", "reset s-0000"] {
        let mut fixture = begin(&json!({"session": session, "user": {"max_cost_usd_per_day": 0.05}}));
        assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
        (0..4).for_each(|_| fixture.responds(Actor::Main));
        fixture.stops();
        let said = shell(&fixture, &format!("fusebox {command}"));
        let at = |words: &str| said.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{said}"));
        assert!(at("would still be blocked") < at("then session s-0000 goes on with its next prompt"), "{said}");
        assert_eq!(said.matches("goes on with").count(), 1, "{said}");
        assert!(!fixture.goes_on(Actor::Main), "{said}");
    }
}
