//! Prompts whose clients are killed before the answer: what was asked is held, and charged once the client is seen gone.

use serde_json::{Value, json};

use crate::compactions::fixture::{FIRST, Fixture, Open, REQUESTS, spent_before};
use crate::compactions::law::{capped, usd};

/// How many clients are started, one after the other.
const TRIES: usize = 6;
/// A prompt of 300,000 tokens, and what it costs at least: all of it is written to the cache, at 5 USD a million.
const LONG: usize = 900_000;
const COST_OF_LONG: u64 = LONG as u64 / 4 * 5_000_000;

/// What the clients are that are killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Each begins a session of its own.
    New,
    /// Each resumes the session of the agent that starts it.
    Resumed,
}

/// Has clients prompt, and kills each; returns how many prompts were let through.
fn play(way: Way, policy: &Value, length: usize) -> (Fixture, u64) {
    let fixture = Fixture::begin(policy, TRIES);
    let mut made = 0;
    for number in 0..TRIES {
        let session = if way == Way::New { format!("n{number}") } else { FIRST.to_owned() };
        let client = Open { pid: fixture.clients.pids[number + 1], session, prompt: format!("k{number}") };
        let source = if way == Way::New { "startup" } else { "resume" };
        fixture.event(&client, "SessionStart", &json!({"source": source, "model": "claude-opus-5-5"}));
        let answer = fixture.event(&client, "UserPromptSubmit", &json!({"prompt": "x".repeat(length)}));
        made += u64::from(!answer.contains(r#""decision":"block""#));
        fixture.clients.kill(client.pid);
    }
    (fixture, made)
}

#[test]
fn killed_prompts_pass_no_cap_of_requests() {
    for way in [Way::New, Way::Resumed] {
        let made = play(way, &capped("max_requests", json!(REQUESTS + 2)), 10).1;
        assert_eq!(made, 2, "{way:?}");
    }
}

#[test]
fn killed_prompts_that_are_long_pass_no_cap_of_cost_by_more_than_one() {
    for way in [Way::New, Way::Resumed] {
        let cap = usd(spent_before() + 2 * COST_OF_LONG + COST_OF_LONG / 2);
        let made = play(way, &capped("max_cost_usd", cap), LONG).1;
        assert!((1..=3).contains(&made), "{way:?}: {made}");
    }
}

#[test]
fn killed_prompts_are_in_reports() {
    for (way, length) in [(Way::New, 10), (Way::New, LONG), (Way::Resumed, 10), (Way::Resumed, LONG)] {
        let (fixture, made) = play(way, &json!({}), length);
        let [live, ..] = fixture.told();
        assert_eq!((made, live.0), (TRIES as u64, REQUESTS + made), "{way:?} {length}");
        if length == LONG {
            let least = spent_before() + made * COST_OF_LONG;
            assert!(live.1 >= least, "{way:?}: {} of {least}", live.1);
        }
    }
}

/// What is held for an agent is charged where its client is killed: not where the agent never began, since somebody has said No.
#[test]
fn agents_that_never_began_are_in_no_report() {
    for asks in [false, true] {
        for begins in [false, true] {
            let cap = REQUESTS + if asks { 1 } else { 9 };
            let policy =
                json!({"session": {"max_requests": cap, "grace_turns": 0, "timeout_action": "request_increase"}});
            let fixture = Fixture::begin(&policy, 1);
            let client = Open { pid: fixture.clients.pids[1], session: "n0".to_owned(), prompt: "k0".to_owned() };
            fixture.event(&client, "SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
            fixture.event(&client, "UserPromptSubmit", &json!({"prompt": "go"}));
            let input = json!({"description": "d", "prompt": "work", "subagent_type": "Explore"});
            let call = json!({"tool_name": "Agent", "tool_use_id": "t0", "tool_input": input});
            let answer = fixture.event(&client, "PreToolUse", &call);
            assert_eq!(answer.contains(r#""permissionDecision":"ask""#), asks, "{answer}");
            if begins {
                fixture.event(&client, "SubagentStart", &json!({"agent_id": "a1", "agent_type": "Explore"}));
            }
            fixture.clients.kill(client.pid);
            let [live, ..] = fixture.told();
            assert_eq!(live.0, REQUESTS + 1 + u64::from(begins), "asks: {asks}, begins: {begins}");
        }
    }
}
