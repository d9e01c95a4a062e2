//! A gateway that says of no response what it has used: each is charged at an estimate, so that limits hold, and the person is told.

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// How many responses an agent may be given under a cap of a few.
const MOST: usize = 20;

/// What the person reads of it.
const TOLD: [&str; 2] = ["say less than they can have used", "is called free"];

/// What is said of a response.
fn silences() -> [(&'static str, Value); 3] {
    [
        ("all is zero", json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0})),
        ("nothing", json!({})),
        ("no usage", Value::Null),
    ]
}

/// Has an agent work until it is stopped; returns how many responses it was given, and what the person has read.
fn works(policy: &Value, agent: &Value, file: &str, usage: &Value) -> (usize, String) {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", policy.to_string());
    let send = |name: &str, rest: &Value| world.hook(world.event("s1", "p1", name, rest)).ok();
    send("SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}));
    send("UserPromptSubmit", &json!({"prompt": "go"}));
    if agent["agent_id"].is_string() {
        send("SubagentStart", agent);
    }
    let (mut rows, mut told) = (String::new(), String::new());
    for number in 1..=MOST {
        let at = rfc3339::format(Environment::real().now().wall_ms);
        let message = json!({"id": format!("m{number}"), "model": "claude-opus-5-5", "usage": usage});
        rows += &format!("{}\n", json!({"type": "assistant", "timestamp": at, "message": message}));
        world.write(file, &rows);
        let id = format!("t{number}");
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        told += &send("PreToolUse", &with(agent.clone(), &call));
        let answer = send("PostToolBatch", &with(agent.clone(), &json!({"tool_calls": [call]})));
        told += &answer;
        if answer.contains(r#""continue":false"#) {
            // The log is broken into lines.
            let told = told + &world.run(&["log"]).ok();
            return (number, told.split_whitespace().collect::<Vec<&str>>().join(" "));
        }
    }
    (usize::MAX, told)
}

#[test]
fn a_limit_holds_where_a_gateway_counts_no_tokens() {
    let sub = json!({"agent_id": "a1", "agent_type": "Explore"});
    let mut wrong = String::new();
    for (what, usage) in silences() {
        for (key, cap) in [("max_cost_usd", json!(0.3)), ("max_tokens", json!(60_000)), ("max_requests", json!(6))] {
            let policy = json!({"session": {key: cap, "grace_turns": 0, "timeout_action": "terminate"}});
            for (agent, file) in [(json!({}), "s1.jsonl"), (sub.clone(), "s1/subagents/agent-a1.jsonl")] {
                let (responses, told) = works(&policy, &agent, file, &usage);
                if responses > MOST {
                    wrong += &format!("{what}, {key}, {file}: it goes on: {told}\n");
                } else if !TOLD.iter().any(|words| told.contains(words)) {
                    wrong += &format!("{what}, {key}, {file}: nobody is told: {told}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
