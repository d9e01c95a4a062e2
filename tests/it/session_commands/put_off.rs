//! A rate refuses the very call that would have asked for more of another limit: the next call asks.

use serde_json::json;

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::prompt_block::begin;

/// Plays until a rate refuses the call that was to ask, and ends its batch.
fn refused() -> Fixture {
    let rate = json!([{"tool": "Read", "max": 8, "per_ms": "10m", "on_limit": "refuse"}]);
    let session = json!({"max_cost_usd": 0.05, "timeout_action": "request_increase", "grace_turns": 0});
    let mut fixture = begin(&json!({"session": session, "main": {"loop_detection": false}, "rate_limits": rate}));
    assert!((0..8).all(|_| fixture.step(Actor::Main)), "{}", fixture.answers());
    assert!(!fixture.step(Actor::Main) && !fixture.answers().contains(r#""ask""#), "{}", fixture.answers());
    fixture.declines(Actor::Main);
    fixture
}

#[test]
fn an_agent_is_asked_about_by_its_next_call_where_a_rate_has_refused_the_one_that_would_ask() {
    let mut fixture = refused();
    let asked = fixture.calls("Glob");
    assert!(asked.contains(r#""ask""#) && asked.contains("max_cost_usd"), "{asked}\n{}", fixture.answers());
}

/// What nobody is asked for is spent once and not again and again.
#[test]
fn an_agent_whose_calls_are_all_refused_is_ended_all_the_same() {
    let mut fixture = refused();
    assert!(fixture.calls("Read").contains(r#""deny""#));
    fixture.declines(Actor::Main);
    let after = fixture.calls("Glob");
    assert!(after.contains(r#""deny""#) || after.contains(r#""continue":false"#), "{after}");
}
