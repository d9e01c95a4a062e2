//! A subagent's stop of which the news comes with a prompt that is not sent: the person reads it with the reason, and the main agent with
//! the next prompt that goes through.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};

/// A session whose budget is used up while the stop of its subagent is still to be told.
fn full_with_a_stopped_subagent() -> Fixture {
    let mut fixture = Fixture::new();
    let worker = json!({"max_turns": 2, "grace_turns": 0});
    let session = json!({"max_cost_usd": 0.5, "timeout_action": "terminate"});
    let limits = json!({"agents": {"worker": worker}, "session": session});
    fixture.world.write("home/.claude/fusebox.json", limits.to_string());
    fixture.begin();
    fixture.spawn("");
    fixture.stops();
    assert!((0..9).any(|_| !fixture.step(Actor::Worker)));
    fixture.ends_worker();
    (0..99).for_each(|_| fixture.responds(Actor::Main));
    fixture
}

/// Returns what the answers have told the main agent, and the reasons why prompts were not sent.
fn told(fixture: &Fixture) -> (String, String) {
    let answers = fixture.answers();
    let answers = serde_json::Deserializer::from_str(&answers).into_iter::<Value>().map(Result::unwrap);
    let (mut context, mut reasons) = (String::new(), String::new());
    for answer in answers {
        context += answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        reasons += answer["reason"].as_str().unwrap_or_default();
        assert!(answer["decision"].is_null() || answer["systemMessage"].is_null(), "the client shows the reason alone");
    }
    (context, reasons)
}

#[test]
fn a_stop_whose_news_is_blocked_is_told_to_the_person_at_once_and_to_the_main_agent_later() {
    let mut fixture = full_with_a_stopped_subagent();
    assert!(!fixture.hears_of_worker(), "the session's budget is used up");
    let (context, reasons) = told(&fixture);
    assert!(!context.contains("stopped before it was done"), "a prompt that is not sent tells no agent: {context}");
    let line = reasons.lines().find(|line| line.contains("worker (a1-0000)"));
    assert!(line.is_some_and(|line| line.contains("stopped") && line.contains("fusebox explain a1-0000")), "{reasons}");
    fixture.world.run(&["grant", "s-0000", "max_cost_usd=+9"]).ok();
    assert!(fixture.prompt());
    let (context, _) = told(&fixture);
    assert!(context.contains("agent worker (run a1-0000) was stopped before it was done"), "{context}");
    assert!(fixture.prompt());
    assert_eq!(told(&fixture).0.matches("was stopped before it was done").count(), 1, "it is said once");
}

#[test]
fn a_stop_that_a_person_has_lifted_is_told_no_more() {
    let mut fixture = full_with_a_stopped_subagent();
    assert!(!fixture.hears_of_worker());
    fixture.world.run(&["grant", "s-0000", "max_cost_usd=+9"]).ok();
    fixture.world.run(&["grant", "a1-0000", "max_turns=+9"]).ok();
    assert!(fixture.prompt());
    let (context, _) = told(&fixture);
    assert!(!context.contains("was stopped before it was done") && context.contains("may go on now"), "{context}");
}

/// Where limits are only observed no answer tells anything: what waits is told once they block again.
#[test]
fn a_stop_that_waits_to_be_told_outlasts_a_time_in_which_limits_are_only_observed() {
    let mut fixture = full_with_a_stopped_subagent();
    assert!(!fixture.hears_of_worker());
    for mode in ["observe", "enforce"] {
        let worker = json!({"max_turns": 2, "grace_turns": 0});
        fixture
            .world
            .write("home/.claude/fusebox.json", json!({"mode": mode, "agents": {"worker": worker}}).to_string());
        fixture.world.run(&["reload"]).ok();
        fixture.prompt();
    }
    let (context, _) = told(&fixture);
    assert_eq!(context.matches("agent worker (run a1-0000) was stopped before it was done").count(), 1, "{context}");
}
