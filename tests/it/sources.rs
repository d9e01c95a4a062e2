//! What the documents ask for that Fusebox was made from, by the names and numbers that they give.
//!
//! Each file has the test cases, examples and tables of one document.

mod agent_execution_limits;
mod agentmd_execution_limits;
mod budget_and_termination;
mod max_turns_is_not_a_task_parameter;
mod run_limits_spec;

use std::fmt::Write;
use std::fs;

use fusebox::config::policy::Policy;
use fusebox::config::problem::Problem;
use fusebox::config::resolve::Trust;
use fusebox::config::{frontmatter, load};
use fusebox::domain::action::Action;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::LimitSet;
use serde_json::{Value, json};

use crate::stories::script_player::{Tells, tell};

/// Reads a configuration as the user's file.
fn read(config: &Value) -> (Policy, Vec<Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fusebox.json");
    fs::write(&file, config.to_string()).unwrap();
    load::only(&file).unwrap()
}

/// Reads a configuration that nothing is wrong with.
#[track_caller]
fn policy(config: &Value) -> Policy {
    let (policy, problems) = read(config);
    assert!(problems.is_empty(), "{problems:?}");
    policy
}

/// Reads an agent's file, as the project has it.
#[track_caller]
fn with_agent(name: &str, text: &str) -> Policy {
    let agent = frontmatter::agent(&format!(".claude/agents/{name}.md"), name, text).unwrap();
    assert!(agent.reading.problems.is_empty(), "{:?}", agent.reading.problems);
    let (pinned, problems) =
        Policy::of(policy(&json!({})).documents, vec![(agent.name, agent.reading.document)], Trust::Untrusted);
    assert!(problems.is_empty(), "{problems:?}");
    pinned
}

/// Returns the cap and the action of a limit, in the configuration's unit; nothing where there is none.
fn rule(rules: &LimitSet, key: &str) -> Option<(f64, Action)> {
    let limit = Limit::find(key).unwrap();
    rules.get(limit).map(|rule| (limit.configured(rule.cap), rule.action))
}

/// Returns turns, milliseconds and dollars of an agent type's run, with the action that all of them have.
#[track_caller]
fn three(rules: &LimitSet) -> (f64, f64, f64, Action) {
    let of = |key| rule(rules, key).unwrap();
    let [turns, duration, cost] = ["max_turns", "max_duration_ms", "max_cost_usd"].map(of);
    assert!(turns.1 == duration.1 && duration.1 == cost.1, "{rules:?}");
    (turns.0, duration.0, cost.0, turns.1)
}

/// Tells what happens to an agent of a type that makes these turns, two seconds each.
fn agent_at_work(policy: &Policy, agent_type: &str, prompt: &str, turns: &[Value]) -> String {
    let spawn = json!({"subagent_type": agent_type, "prompt": prompt});
    let who = format!("a1:{agent_type}");
    let mut script = vec![
        json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"}),
        json!({"at": 0, "does": "call", "id": "t1", "tool": "Agent", "input": spawn}),
        json!({"at": 0, "does": "end", "id": "t1", "tool": "Agent",
            "response": {"status": "async_launched", "agentId": "a1"}}),
        json!({"at": 0, "does": "batch", "id": "t1", "tool": "Agent", "input": spawn}),
        json!({"at": 0, "does": "start", "who": who, "by": "t1"}),
    ];
    script.extend(turns.iter().enumerate().map(|(number, turn)| {
        let mut line = json!({"at": 1 + 2 * number, "does": "turn", "who": who, "id": format!("w{}", number + 1)});
        for (key, value) in turn.as_object().unwrap() {
            line[key] = value.clone();
        }
        line
    }));
    told(policy, &script)
}

/// Tells what happens to the main agent in these turns, two seconds each.
fn main_at_work(policy: &Policy, turns: &[Value]) -> String {
    let mut script = vec![json!({"at": 0, "does": "prompt", "id": "p1", "text": "go"})];
    script.extend(turns.iter().enumerate().map(|(number, turn)| {
        let mut line = json!({"at": 1 + 2 * number, "does": "turn", "id": format!("t{}", number + 1)});
        for (key, value) in turn.as_object().unwrap() {
            line[key] = value.clone();
        }
        line
    }));
    told(policy, &script)
}

fn told(policy: &Policy, script: &[Value]) -> String {
    let mut lines = String::new();
    for line in script {
        writeln!(lines, "{line}").unwrap();
    }
    tell(policy, &lines, Tells::AsAnswered)
}

/// Looks for sentences in what was told.
#[track_caller]
fn says(told: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(told.contains(sentence), "`{sentence}` is not in\n{told}");
    }
}

/// Looks for sentences that must not be in what was told.
#[track_caller]
fn says_nothing_of(told: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(!told.contains(sentence), "`{sentence}` is in\n{told}");
    }
}

/// Whose rule a limit of a run is.
fn layer(rules: &LimitSet, key: &str) -> Option<Layer> {
    rules.get(Limit::find(key).unwrap()).map(|rule| rule.layer)
}
