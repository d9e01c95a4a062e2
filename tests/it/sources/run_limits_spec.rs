//! `run-limits-spec.md`: one configuration that caps tool calls, time, delegation and requests.

use serde_json::{Value, json};

use crate::sources::{main_at_work, policy, read, rule, says, says_nothing_of, told};

#[test]
fn no_limit_by_default() {
    let main = policy(&json!({})).main();
    for key in ["max_duration_ms", "max_wall_ms", "max_turns"] {
        assert_eq!(rule(&main, key), None, "{key}");
    }
    let session = policy(&json!({})).session();
    for key in ["max_delegation_depth", "max_parallel_subagents"] {
        assert_eq!(rule(&session, key), None, "{key}");
    }
    assert!(session.rates.is_empty());
}

#[test]
fn misconfigured_values_are_errors() {
    for config in [
        json!({"main": {"max_duration": 0}}),
        json!({"main": {"max_duration": -1}}),
        json!({"main": {"max_tool_calls": 0}}),
        json!({"session": {"max_delegation_depth": -1}}),
        json!({"session": {"max_parallel_subagents": -1}}),
        json!({"adapter_rate_limit": {"max_requests": 0, "per_ms": 1000}}),
        json!({"adapter_rate_limit": {"max_requests": 1, "per_ms": 0}}),
    ] {
        assert_eq!(read(&config).1.len(), 1, "{config}");
    }
}

#[test]
fn deadline_enforcement() {
    // The deadline is looked at before a tool runs, and a call beyond it is not attempted.
    let told = main_at_work(&policy(&json!({"main": {"max_duration": 5}})), &vec![json!({}); 4]);
    says(&told, &["time limit reached", "This call was not run.", "run p1 main: failed (timeout); 2 tool calls"]);
}

#[test]
fn tool_call_ceiling() {
    let told = main_at_work(&policy(&json!({"main": {"max_tool_calls": 2}})), &vec![json!({}); 3]);
    says(&told, &["permissionDecisionReason: Fusebox: tool call limit reached.", "This call was not run."]);
    says(&told, &["run p1 main: failed (turn_limit_reached); 2 tool calls"]);
}

fn spawns(calls: &str) -> Vec<Value> {
    let input = json!({"subagent_type": "worker", "prompt": "work"});
    vec![
        json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"}),
        json!({"at": 1, "does": "call", "id": calls, "tool": "Agent", "input": input}),
        json!({"at": 2, "does": "batch", "id": calls, "tool": "Agent"}),
    ]
}

#[test]
fn delegation_depth_guardrails() {
    // The root run is at 0, its children at 1.
    let depth = |most: u64| told(&policy(&json!({"session": {"max_delegation_depth": most}})), &spawns("t1 t2 t3"));
    says_nothing_of(&depth(1), &["deny"]);
    let rejected = depth(0);
    assert_eq!(rejected.matches("delegation depth limit reached").count(), 3, "none of the batch starts:\n{rejected}");
}

#[test]
fn parallel_subagent_limit() {
    let parallel =
        |most: u64| told(&policy(&json!({"session": {"max_parallel_subagents": most}})), &spawns("t1 t2 t3"));
    says_nothing_of(&parallel(3), &["deny"]);
    // As many of a batch start as have room; the document would reject all of it.
    assert_eq!(parallel(2).matches("parallel subagent limit reached").count(), 1);
    assert_eq!(parallel(0).matches("parallel subagent limit reached").count(), 3);
}

#[test]
fn adapter_rate_limits() {
    let config = json!({"adapter_rate_limit": {"max_requests": 3, "per_ms": 60_000}});
    let mut script = vec![json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"})];
    script.extend((0..4).map(|number| json!({"at": 1 + 2 * number, "does": "turn", "id": format!("t{number}")})));
    script.push(json!({"at": 30, "does": "prompt", "id": "p2", "text": "again"}));
    // Timestamps older than the window are cleared.
    script.push(json!({"at": 70, "does": "prompt", "id": "p3", "text": "again"}));
    script.push(json!({"at": 71, "does": "turn", "id": "u1"}));
    let story = told(&policy(&config), &script);
    says(
        &story,
        &["model requests 3/3", "It passes by itself in 56 s", "failed (rate_limited); 3 tool calls, 3 requests"],
    );
    says(&story, &["decision: block", "prompts are blocked:", "run p3 main: running; 1 tool calls"]);
    // Without it, nothing is counted.
    let free = told(&policy(&json!({})), &script);
    says_nothing_of(&free, &["window"]);
}

#[test]
fn the_rate_limit_says_when_the_next_slot_becomes_available() {
    let config = json!({"rate_limits": [{"tool": "WebSearch", "max": 1, "per_ms": 60_000}]});
    let told = main_at_work(&policy(&config), &vec![json!({"tool": "WebSearch"}); 2]);
    says(&told, &["rate limit exceeded", "the next slot opens in 58 s", "the agent goes on"]);
}
