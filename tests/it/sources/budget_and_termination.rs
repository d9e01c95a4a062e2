//! `budget-and-termination.md`: budgets by round trips, tokens and time, and why a run ended.

use serde_json::{Value, json};

use crate::sources::{agent_at_work, main_at_work, policy, rule, says, says_nothing_of, told};

/// A budget as the document writes it: its turns are round trips to the model, our `max_requests`.
fn budget(fields: Value) -> fusebox::config::policy::Policy {
    let mut block = fields;
    block["timeout_action"] = json!("terminate");
    block["grace_turns"] = json!(0);
    policy(&json!({"main": block}))
}

#[test]
fn a_focused_agent_has_5_turns_and_2_minutes() {
    let policy = budget(json!({"maxTurns": 5, "timeout": 120}));
    assert_eq!(rule(&policy.main(), "max_requests").unwrap().0, 5.0);
    assert_eq!(rule(&policy.main(), "max_wall_ms").unwrap().0, 120_000.0);
    let told = main_at_work(&policy, &vec![json!({}); 7]);
    // The loop stops before another call to the model.
    says(
        &told,
        &["model requests 5/5 (max_requests", "run p1 main: failed (request_limit_reached); 5 tool calls, 5 requests"],
    );
}

#[test]
fn a_long_running_agent_is_aware_of_tokens() {
    let policy = budget(json!({"maxTurns": 50, "max_tokens": 200_000, "max_tokens_per_turn": 8_000}));
    let told = main_at_work(&policy, &[json!({"out": 8000}), json!({"out": 8001}), json!({})]);
    says(&told, &["completion tokens of one request 8001/8000", "failed (token_budget_exhausted); 2 tool calls"]);
}

#[test]
fn a_quick_single_shot_agent_has_one_turn() {
    says(
        &main_at_work(&budget(json!({"maxTurns": 1})), &vec![json!({}); 3]),
        &["failed (request_limit_reached); 1 tool calls, 1 requests"],
    );
}

#[test]
fn turn_limit_reached() {
    let told = main_at_work(&policy(&json!({"main": {"max_tool_calls": 2, "grace_turns": 0}})), &vec![json!({}); 3]);
    says(&told, &["failed (turn_limit_reached)"]);
}

#[test]
fn token_budget_exhausted() {
    let told = main_at_work(&budget(json!({"max_tokens": 20_000})), &vec![json!({"out": 6000}); 6]);
    // A fourth request of 6,000 would pass the budget: it is not made.
    says(
        &told,
        &["tokens 18000/20000 + 6000 to come (max_tokens", "failed (token_budget_exhausted); 3 tool calls, 3 requests"],
    );
}

#[test]
fn timeout_includes_the_wait_for_a_person() {
    let policy = budget(json!({"timeout": 30}));
    let told = told(
        &policy,
        &[
            json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"}),
            json!({"at": 1, "does": "call", "id": "t1"}),
            json!({"at": 40, "does": "end", "id": "t1", "took": 1}),
            json!({"at": 40, "does": "batch", "id": "t1"}),
        ],
    );
    says(&told, &["wall time 40.0/30.0 s", "failed (timeout)"]);
}

#[test]
fn without_a_budget_on_a_dimension_nothing_is_constrained_there() {
    let policy = policy(&json!({"main": {"maxTurns": 50}}));
    for key in ["max_turns", "max_tokens", "max_tokens_per_turn", "max_wall_ms"] {
        assert_eq!(rule(&policy.main(), key), None, "{key}");
    }
}

#[test]
fn a_session_never_runs_for_ever() {
    assert_eq!(rule(&policy(&json!({})).session(), "max_cost_usd").unwrap().0, 25.0);
}

#[test]
fn a_snapshot_of_what_is_left_comes_with_every_turn() {
    let policy = policy(&json!({"main": {"maxTurns": 50, "max_tokens": 500_000, "timeout": 600, "remaining": "turn"}}));
    let told = main_at_work(&policy, &[json!({}), json!({})]);
    says(
        &told,
        &[
            "Fusebox: used so far: model requests 1/50 (max_requests), wall time 2.0 s/10.0 min (max_wall_ms), tokens 100/500000 (max_tokens)",
        ],
    );
}

#[test]
fn a_root_agent_is_generous_and_a_sub_agent_tight() {
    let config = json!({
        "main": {"maxTurns": 50, "max_tokens": 500_000, "timeout": 600},
        "agents": {"searcher": {"maxTurns": 5, "max_tokens": 20_000, "timeout": 30, "timeout_action": "terminate", "grace_turns": 0}},
    });
    let policy = policy(&config);
    let told = agent_at_work(&policy, "searcher", "search", &vec![json!({"tool": "WebSearch", "out": 100}); 7]);
    says(&told, &["run a1 searcher: failed (request_limit_reached); 5 tool calls, 5 requests", "run p1 main: running"]);
    let told = main_at_work(&policy, &vec![json!({}); 7]);
    says_nothing_of(&told, &["Execution limit exceeded"]);
}

#[test]
fn explicit_stop() {
    let policy = policy(&json!({"main": {"explicit_stop": {"tools": ["submit"], "marker": "FUSEBOX-STOP:"}}}));
    // A tool whose call says that the task is done.
    let story = main_at_work(&policy, &[json!({}), json!({"tool": "submit"}), json!({})]);
    says(&story, &["run p1 main: stopped (explicit_stop); 2 tool calls"]);
    // ToolOutput.stop(reason: ...): a line of a tool's result.
    let story = told(
        &policy,
        &[
            json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"}),
            json!({"at": 1, "does": "turn", "id": "t1",
                "response": {"stdout": "FUSEBOX-STOP: Task complete, all files processed"}}),
            json!({"at": 3, "does": "turn", "id": "t2"}),
        ],
    );
    says(&story, &["Task complete, all files processed", "run p1 main: stopped (explicit_stop); 1 tool calls"]);
}
