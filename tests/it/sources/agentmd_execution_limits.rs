//! AgentMD's execution limits: the keys of an agent's frontmatter, `null`, and how each limit works.

use fusebox::domain::action::Action;
use serde_json::{Value, json};

use crate::sources::{agent_at_work, policy, rule, says, says_nothing_of, with_agent};

const SETTINGS: &str = "---\nsettings:\n  timeout: 600\n  max_tool_calls: 50\n  max_execution_tokens: 500000\n  \
                        max_cost_usd: 0.50\n  loop_detection: true\n---\nYou work.\n";

#[test]
fn configuration_in_agent_frontmatter() {
    let (rules, _) = with_agent("helper", SETTINGS).agent("helper", None);
    for (key, cap) in [
        ("max_wall_ms", 600_000.0),
        ("max_turns", 50.0),
        ("max_tokens", 500_000.0),
        ("max_cost_usd", 0.5),
        ("loop_detection", 1.0),
    ] {
        assert_eq!(rule(&rules, key).unwrap().0, cap, "{key}");
    }
}

#[test]
fn null_disables_a_limit() {
    let text =
        SETTINGS.replace(": 50\n", ": null\n").replace("500000", "null").replace("600", "null").replace("true", "null");
    let (rules, _) = with_agent("helper", &text).agent("helper", None);
    for key in ["max_wall_ms", "max_tokens", "loop_detection"] {
        assert_eq!(rule(&rules, key), None, "{key}");
    }
    // The ceilings of subagents' runs stay, and warn.
    assert_eq!(rule(&rules, "max_turns"), Some((100.0, Action::Warn)));
}

#[test]
fn priority_is_agent_frontmatter_then_configuration_then_defaults() {
    let (rules, _) = policy(&json!({"agents": {"*": {"max_tool_calls": 25}}})).agent("helper", None);
    assert_eq!(rule(&rules, "max_turns").unwrap().0, 25.0);
    let (rules, _) = with_agent("helper", SETTINGS).agent("helper", None);
    assert_eq!(rule(&rules, "max_turns").unwrap().0, 50.0);
}

fn stopping(block: Value) -> fusebox::config::policy::Policy {
    let mut block = block;
    block["timeout_action"] = json!("terminate");
    policy(&json!({"agents": {"helper": block}}))
}

#[test]
fn max_tool_calls_aborts_after_the_nth_call() {
    let told = agent_at_work(&stopping(json!({"max_tool_calls": 3})), "helper", "go", &vec![json!({}); 5]);
    says(&told, &["tool call limit reached", "run a1 helper: failed (turn_limit_reached); 3 tool calls"]);
}

#[test]
fn max_execution_tokens_sums_input_and_output_of_all_calls() {
    let told =
        agent_at_work(&stopping(json!({"max_execution_tokens": 5000})), "helper", "go", &vec![json!({"out": 1000}); 6]);
    says(&told, &["token budget exhausted", "run a1 helper: failed (token_budget_exhausted)"]);
}

#[test]
fn max_cost_usd_aborts_where_the_estimate_exceeds_the_cap() {
    let told = agent_at_work(&stopping(json!({"max_cost_usd": 0.5})), "helper", "go", &vec![json!({"out": 5000}); 6]);
    says(&told, &["cost budget exhausted", "run a1 helper: failed (cost_budget_exhausted)"]);
}

#[test]
fn a_model_without_a_price_is_limited_all_the_same() {
    let turns = vec![json!({"out": 5000, "model": "claude-never-heard-of-9"}); 6];
    says(&agent_at_work(&stopping(json!({"max_cost_usd": 0.5})), "helper", "go", &turns), &["cost budget exhausted"]);
}

fn errors(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!({"fails": true, "response": text})).collect()
}

#[test]
fn loop_detection_aborts_where_the_last_three_tool_errors_are_identical() {
    // The third is told to the agent; the fourth ends it.
    let told = agent_at_work(&policy(&json!({})), "helper", "go", &errors(&["no such file"; 5]));
    says(
        &told,
        &["failed 3 times the same way", "loop detected", "run a1 helper: failed (loop_detected); 4 tool calls"],
    );
}

#[test]
fn loop_detection_lets_errors_that_differ_pass() {
    let told = agent_at_work(&policy(&json!({})), "helper", "go", &errors(&["a", "b", "a", "b", "c"]));
    says_nothing_of(&told, &["repetition", "loop detected"]);
}

#[test]
fn loop_detection_is_on_where_nobody_says_anything() {
    let policy = policy(&json!({}));
    assert_eq!(rule(&policy.agent("helper", None).0, "loop_detection"), Some((1.0, Action::Terminate)));
    assert_eq!(rule(&policy.main(), "loop_detection"), Some((1.0, Action::Terminate)));
}

#[test]
fn timeout_is_wall_clock_time() {
    let config = stopping(json!({"timeout": 5}));
    let told = agent_at_work(&config, "helper", "go", &vec![json!({}); 5]);
    says(&told, &["time limit reached. Execution limit exceeded: [max_wall_ms]", "run a1 helper: failed (timeout)"]);
}
