//! `max-turns-is-not-a-task-parameter.md`: what a prompt can only ask for is enforced from outside.

use fusebox::engine::agents::checkpoints::problems;
use serde_json::{Value, json};

use crate::sources::{agent_at_work, policy, rule, says, says_nothing_of, with_agent};

#[test]
fn max_turns_50_of_a_task_is_enforced_all_the_same() {
    // Task(subagent_type="software-crafter", prompt="...", max_turns=50)
    let prompt = format!("Do it. {}", json!({"execution_limits": {"max_turns": 50}}));
    let told = agent_at_work(&policy(&json!({})), "software-crafter", &prompt, &vec![json!({}); 52]);
    says(&told, &["run a1 software-crafter: failed (turn_limit_reached); 50 tool calls"]);
}

#[test]
fn the_clients_own_max_turns_counts_round_trips() {
    let text = "---\nname: software-crafter\nmaxTurns: 50\n---\nYou craft.\n";
    let (rules, _) = with_agent("software-crafter", text).agent("software-crafter", None);
    assert_eq!(rule(&rules, "max_requests").unwrap().0, 50.0);
}

#[test]
fn forty_tool_calls_without_completing_stop_and_return_partial_results() {
    let policy = policy(&json!({"agents": {"software-crafter": {"max_turns": 40, "timeout_action": "terminate"}}}));
    let told = agent_at_work(&policy, "software-crafter", "go", &vec![json!({}); 41]);
    says(
        &told,
        &[
            "is at tool calls 40/40",
            "for a report of the work so far: what is done, what is not, and that it is partial",
        ],
    );
}

#[test]
fn looping_on_the_same_error_three_times_is_seen() {
    let errors: Vec<Value> = (0..3)
        .map(|number| json!({"fails": true, "response": "E0308", "input": {"command": format!("make {number}")}}))
        .collect();
    says(&agent_at_work(&policy(&json!({})), "software-crafter", "go", &errors), &["failed 3 times the same way"]);
}

#[test]
fn no_progress_for_five_calls_in_a_row_is_seen() {
    let same = json!({"response": {"stdout": "red"}});
    says(
        &agent_at_work(&policy(&json!({})), "software-crafter", "go", &vec![same.clone(); 5]),
        &["had the same result 5 times in a row"],
    );
    says_nothing_of(&agent_at_work(&policy(&json!({})), "software-crafter", "go", &vec![same; 4]), &["repetition"]);
}

#[test]
fn absolute_time_limits_hold() {
    let policy =
        policy(&json!({"agents": {"software-crafter": {"max_wall_ms": 1_800_000, "timeout_action": "terminate"}}}));
    let told = agent_at_work(&policy, "software-crafter", "go", &[json!({}), json!({"at": 1801})]);
    says(&told, &["wall time 30.0/30.0 min (max_wall_ms", "failed (timeout)"]);
}

#[test]
fn discipline_is_put_into_the_prompt_where_it_is_asked_for() {
    let policy = policy(&json!({"agents": {"software-crafter": {"discipline": true, "max_turns": 40}}}));
    let text = policy.discipline("software-crafter").unwrap();
    says(&text, &["40"]);
    assert_eq!(policy.discipline("worker"), None);
}

#[test]
fn checkpoints_of_the_step_file_are_validated() {
    let steps = json!({"execution_checkpoints": [
        {"checkpoint": "START", "timestamp": "2026-01-22T10:00:00Z"},
        {"checkpoint": "RED_COMPLETE", "timestamp": "2026-01-22T10:15:00Z"},
        {"checkpoint": "GREEN_COMPLETE", "timestamp": "2026-01-22T10:35:00Z"},
    ]});
    let within = |minutes: u64, required: &[&str]| {
        let checkpoints = json!({"file": "step.json", "required": required, "max_gap_ms": minutes * 60_000});
        let policy = policy(&json!({"agents": {"software-crafter": {"checkpoints": checkpoints}}}));
        let rule = policy.agent("software-crafter", None).0.checkpoints.unwrap();
        problems(&rule, Ok(&steps.to_string()))
    };
    let all = ["START", "RED_COMPLETE", "GREEN_COMPLETE"];
    assert_eq!(within(20, &all), Vec::<String>::new());
    assert_eq!(within(19, &all), ["checkpoint GREEN_COMPLETE came 1200 s after RED_COMPLETE, more than 1140 s"]);
    assert_eq!(within(20, &["START", "REFACTOR_COMPLETE"]), ["checkpoint REFACTOR_COMPLETE is missing"]);
}
