//! The next request would pass two caps that ask: one dialog names both, and its answer is for both.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

/// Caps that ask, in a repository's and a person's terms, which the same request would pass.
fn policies() -> [Value; 3] {
    let cap = |key: &str| json!({key: 0.05, "timeout_action": "request_increase"});
    let session = || json!({"max_cost_usd": 0.05, "timeout_action": "request_increase", "warn_at": []});
    [
        json!({"session": session(), "user": cap("max_cost_usd_per_day")}),
        json!({"session": session(), "project": cap("max_cost_usd_per_week")}),
        json!({"user": cap("max_cost_usd_per_day"), "project": cap("max_cost_usd_per_month")}),
    ]
}

/// Plays until a call asks; returns the question.
fn asked(policy: &Value) -> (Fixture, String) {
    let mut fixture = begin(policy);
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "{policy}: nothing was asked");
    let answers = fixture.answers();
    let question = answers.split("permissionDecisionReason").last().unwrap_or_default().to_owned();
    (fixture, question)
}

/// Returns the limits of a policy that ask.
fn caps(policy: &Value) -> Vec<String> {
    let blocks = policy.as_object().unwrap().values();
    blocks.flat_map(|block| block.as_object().unwrap().keys()).filter(|key| key.starts_with("max_")).cloned().collect()
}

#[test]
fn one_dialog_asks_for_every_cap_that_the_next_request_would_pass() {
    for policy in policies() {
        let (mut fixture, question) = asked(&policy);
        for cap in caps(&policy) {
            assert!(question.contains(&format!("({cap}, ")), "{cap}: {question}");
        }
        assert!(question.chars().count() < 260, "{question}");
        fixture.says_yes(Actor::Main);
        let log = shell(&fixture, "COLUMNS=300 fusebox log");
        for cap in caps(&policy) {
            let granted = log.lines().any(|line| line.contains("LIMIT_GRANTED") && line.contains(&cap));
            assert!(granted, "{cap}: {question}\n{log}");
        }
        assert!(fixture.step(Actor::Main), "{policy}: asked again at once: {}", fixture.answers());
    }
}

#[test]
fn a_no_is_for_every_cap_that_the_dialog_named() {
    for policy in policies() {
        let (mut fixture, question) = asked(&policy);
        fixture.declines(Actor::Main);
        let log = shell(&fixture, "COLUMNS=300 fusebox log");
        for cap in caps(&policy) {
            let declined = log.lines().any(|line| line.contains("INCREASE_DECLINED") && line.contains(&cap));
            assert!(declined, "{cap}: {question}\n{log}");
        }
        assert!(!fixture.step(Actor::Main), "{policy}: goes on after a No");
        assert!(!fixture.answers().contains("LIMIT_GRANTED"));
    }
}

/// Two caps of one limit are told apart.
#[test]
fn a_dialog_says_which_of_the_caps_is_the_sessions() {
    let cap = || json!({"max_cost_usd": 0.05, "timeout_action": "request_increase", "warn_at": []});
    let day = json!({"max_cost_usd_per_day": 0.05, "timeout_action": "request_increase"});
    for policy in [json!({"main": cap(), "session": cap()}), json!({"main": cap(), "session": cap(), "user": day})] {
        let (_, question) = asked(&policy);
        assert_eq!(question.matches("(max_cost_usd, ").count(), 2, "{question}");
        assert_eq!(question.matches(" of the session ").count(), 1, "{question}");
    }
}
