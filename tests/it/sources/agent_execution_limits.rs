//! `agent-execution-limits.md`: its unit and integration tests, its four examples, its tables and its cost calculation.

use fusebox::domain::action::Action;
use fusebox::pricing::price::price;
use fusebox::pricing::table::Table;
use fusebox::pricing::usage::TokenUsage;
use serde_json::{Value, json};

use crate::sources::{agent_at_work, layer, policy, read, rule, says, says_nothing_of, three};

fn limits(of: &Value) -> String {
    format!("You are AGENT. Task ID: #51.\n{}", json!({ "execution_limits": of }))
}

fn turns(count: usize) -> Vec<Value> {
    vec![json!({}); count]
}

#[test]
fn should_terminate_agent_when_max_turns_exceeded() {
    let told = agent_at_work(&policy(&json!({})), "worker", &limits(&json!({"max_turns": 5})), &turns(6));
    says(
        &told,
        &[
            "tool call limit reached. Execution limit exceeded: [max_turns]. Agent worker (run a1) is at tool calls 5/5",
            "log: AGENT_FAILED max_turns 5/5",
            "run a1 worker: failed (turn_limit_reached); 5 tool calls",
        ],
    );
}

#[test]
fn should_terminate_agent_when_max_duration_ms_exceeded() {
    // sleep(1100)
    let late = [json!({"at": 1.1})];
    let told = agent_at_work(&policy(&json!({})), "worker", &limits(&json!({"max_duration_ms": 1000})), &late);
    says(
        &told,
        &[
            "Execution limit exceeded: [max_duration_ms]. Agent worker (run a1) is at working time 1.1/1.0 s",
            "failed (timeout)",
        ],
    );
}

#[test]
fn should_terminate_agent_when_max_cost_usd_exceeded() {
    // 10,000 tokens each call; opus: 0.04 USD a call with 2,000 of output
    let calls = vec![json!({"out": 2000}); 6];
    let told = agent_at_work(&policy(&json!({})), "worker", &limits(&json!({"max_cost_usd": 0.1})), &calls);
    says(&told, &["Execution limit exceeded: [max_cost_usd]", "run a1 worker: failed (cost_budget_exhausted)"]);
    // The document goes on until 0.11 is spent; here the next call is estimated, and the cap is kept.
    says(&told, &["is at cost 0.0400/0.10 USD"]);
}

#[test]
fn should_warn_but_continue_when_timeout_action_is_warn() {
    let block = json!({"max_turns": 5, "timeout_action": "warn"});
    let told = agent_at_work(&policy(&json!({"agents": {"worker": block}})), "worker", "go", &turns(6));
    says(
        &told,
        &["The limit only warns; work goes on.", "log: AGENT_WARNING max_turns 5/5", "run a1 worker: running;"],
    );
    says_nothing_of(&told, &["deny"]);
}

#[test]
fn should_terminate_developer_agent_after_25_turns() {
    // Loop infinitely calling the Read tool.
    let reads: Vec<Value> =
        (0..30).map(|file| json!({"tool": "Read", "input": {"file_path": format!("{file}.md")}})).collect();
    let told = agent_at_work(&policy(&json!({})), "developer", "Loop infinitely calling Read tool", &reads);
    says(
        &told,
        &[
            "80 % is reached: agent developer (run a1) is at tool calls 20/25",
            "run a1 developer: failed (turn_limit_reached); 25 tool calls",
        ],
    );
}

/// What the examples give to `Task`, and what happens at the end of their turns.
const EXAMPLES: [(&str, u64, u64, f64, Action); 4] = [
    ("developer", 25, 600_000, 1.0, Action::Terminate),
    ("qa", 10, 120_000, 0.5, Action::Terminate),
    ("researcher", 50, 1_200_000, 5.0, Action::Warn),
    ("architect", 100, 3_600_000, 10.0, Action::Pause),
];

fn example(number: usize) -> (&'static str, Value) {
    let (kind, turns, duration, cost, action) = EXAMPLES[number - 1];
    let block =
        json!({"max_turns": turns, "max_duration_ms": duration, "max_cost_usd": cost, "timeout_action": action});
    (kind, block)
}

/// Checks the rules of an example, given by the user's file and by the spawn, and what its agent's last turns bring.
#[track_caller]
fn check_example(number: usize, ends: &[&str]) {
    let (kind, block) = example(number);
    let (_, turns, duration, cost, action) = EXAMPLES[number - 1];
    let expected = (turns as f64, duration as f64, cost, action);
    let in_file = policy(&json!({"agents": {kind: block}}));
    assert_eq!(three(&in_file.agent(kind, None).0), expected);
    // A spawn may only tighten, unless the user says that it may loosen.
    let free = policy(&json!({"spawn_may_loosen": true}));
    assert_eq!(three(&free.agent(kind, Some(&limits(&block))).0), expected);
    let calls = vec![json!({}); usize::try_from(turns).unwrap() + 2];
    says(&agent_at_work(&in_file, kind, "go", &calls), ends);
}

#[test]
fn example_1_standard_developer_task() {
    check_example(1, &["is at tool calls 25/25", "run a1 developer: failed (turn_limit_reached); 25 tool calls"]);
}

#[test]
fn example_2_quick_qa_validation() {
    check_example(2, &["is at tool calls 10/10", "run a1 qa: failed (turn_limit_reached); 10 tool calls"]);
}

#[test]
fn example_3_research_task() {
    check_example(3, &["log: AGENT_WARNING max_turns 50/50", "run a1 researcher: running; 52 tool calls"]);
}

#[test]
fn example_4_long_running_background_task() {
    check_example(
        4,
        &[
            "log: AGENT_PAUSED max_turns 100/100",
            "`fusebox resume a1`",
            "run a1 architect: paused (turn_limit_reached); 100 tool calls",
        ],
    );
}

#[test]
fn a_spawn_alone_may_not_loosen_what_example_4_loosens() {
    let (kind, block) = example(4);
    let (rules, problems) = policy(&json!({})).agent(kind, Some(&limits(&block)));
    assert_eq!(three(&rules), (50.0, 1_800_000.0, 5.0, Action::Pause));
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn default_values_by_agent_type() {
    let policy = policy(&json!({}));
    for (kind, turns, duration, cost, action) in [
        ("developer", 25.0, 600_000.0, 1.0, Action::Terminate),
        ("qa", 10.0, 120_000.0, 0.5, Action::Terminate),
        ("planner", 15.0, 300_000.0, 2.0, Action::Terminate),
        ("architect", 50.0, 1_800_000.0, 5.0, Action::Warn),
        ("researcher", 50.0, 1_200_000.0, 5.0, Action::Warn),
        ("security-architect", 30.0, 900_000.0, 3.0, Action::Terminate),
        ("code-reviewer", 20.0, 600_000.0, 1.5, Action::Warn),
        ("devops", 30.0, 900_000.0, 2.0, Action::Terminate),
    ] {
        assert_eq!(three(&policy.agent(kind, None).0), (turns, duration, cost, action), "{kind}");
    }
}

#[test]
fn defaults_of_the_schema_stand_in_for_what_is_left_out() {
    let (rules, _) = policy(&json!({})).agent("worker", Some(&limits(&json!({"max_turns": 20}))));
    assert_eq!(three(&rules), (20.0, 600_000.0, 1.0, Action::Terminate));
}

#[test]
fn ranges_of_the_schema() {
    for (key, inside, outside) in [
        ("max_turns", [json!(1), json!(100)], [json!(0), json!(101)]),
        ("max_duration_ms", [json!(1000), json!(3_600_000)], [json!(999), json!(3_600_001)]),
        ("max_cost_usd", [json!(0.01), json!(100.0)], [json!(0.009), json!(100.01)]),
    ] {
        let with = |value: &Value| json!({"agents": {"worker": {key: value}}});
        for value in &inside {
            assert_eq!(rule(&policy(&with(value)).agent("worker", None).0, key).unwrap().0, value.as_f64().unwrap());
        }
        for value in &outside {
            let (policy, problems) = read(&with(value));
            assert_eq!(problems.iter().filter(|it| it.is_error()).count(), 1, "{key} {value}: {problems:#?}");
            assert_eq!(layer(&policy.agent("worker", None).0, key).unwrap().as_str(), "built-in");
        }
    }
    for action in ["terminate", "pause", "warn"] {
        policy(&json!({"agents": {"worker": {"timeout_action": action}}}));
    }
    assert_eq!(read(&json!({"agents": {"worker": {"timeout_action": "abort"}}})).1.len(), 1);
}

#[test]
fn example_calculation_of_cost() {
    let table = Table::embedded();
    let cost = |model: &str, input, output| {
        let usage = TokenUsage { input, output, ..TokenUsage::default() };
        price(&table, model, 1_795_168_800_000, &usage, None).cost
    };
    // Sonnet: 0.003 a thousand in, 0.015 a thousand out.
    let first = cost("claude-sonnet-4-5", 2000, 1000);
    let second = cost("claude-sonnet-4-5", 3000, 2000);
    let third = |amount: fusebox::domain::spend::amount::Amount| format!("{:.3}", amount.usd());
    assert_eq!((third(first), third(second), third(first + second)), ("0.021".into(), "0.039".into(), "0.060".into()));
    // Opus: 0.015 and 0.075.
    assert_eq!(third(cost("claude-opus-4-1", 1000, 1000)), "0.090");
}

#[test]
fn five_tool_calls_are_five_turns() {
    let calls = [
        json!({"tool": "Read", "input": {"file_path": ".claude/agents/core/developer.md"}}),
        json!({"tool": "Read", "input": {"file_path": ".claude/context/memory/learnings.md"}}),
        json!({"tool": "Write", "input": {"file_path": ".claude/schemas/agent-spawn-params.json"}}),
        json!({"tool": "Bash", "input": {"command": "npm test"}}),
        json!({"tool": "TaskUpdate", "input": {"taskId": "51", "status": "completed"}}),
    ];
    let told = agent_at_work(&policy(&json!({})), "developer", "go", &calls);
    // A response without a call is no turn.
    says(&told, &["run a1 developer: running; 5 tool calls, 5 requests"]);
}

#[test]
fn planning_and_execution_cost_have_caps_of_their_own() {
    let block = json!({"max_turns": 25, "max_duration_ms": 600_000, "max_planning_cost_usd": 0.5,
        "max_execution_cost_usd": 0.3, "max_total_cost_usd": 1.0, "timeout_action": "terminate"});
    let (rules, problems) = policy(&json!({})).agent("worker", Some(&limits(&block)));
    assert!(problems.is_empty(), "{problems:?}");
    for (key, cap) in [("max_planning_cost_usd", 0.5), ("max_execution_cost_usd", 0.3), ("max_cost_usd", 1.0)] {
        assert_eq!(rule(&rules, key), Some((cap, Action::Terminate)), "{key}");
    }
    // 0.10 USD a response: 0.3 and its report fit into the half dollar of planning.
    let told = agent_at_work(&policy(&json!({})), "worker", &limits(&block), &vec![json!({"out": 5000}); 8]);
    says(
        &told,
        &["Execution limit exceeded: [max_planning_cost_usd]. Agent worker (run a1) is at cost of planning models"],
    );
}

#[test]
fn request_increase_asks_the_user() {
    let config = json!({"agents": {"worker": {"max_turns": 5, "timeout_action": "request_increase"}}});
    let told = agent_at_work(&policy(&config), "worker", "go", &turns(6));
    says(&told, &["permissionDecision: ask", "Yes: 3 more, cap 8. No: stop here.", "log: LIMIT_GRANTED max_turns"]);
}

#[test]
fn alerts_at_80_per_cent() {
    let config = json!({"agents": {"worker": {"max_turns": 10, "max_duration_ms": 20_000}}});
    let told = agent_at_work(&policy(&config), "worker", "go", &turns(8));
    says(
        &told,
        &[
            "80 % is reached: agent worker (run a1) is at tool calls 8/10",
            "80 % is reached: agent worker (run a1) is at working time 16.0/20.0 s",
        ],
    );
}
