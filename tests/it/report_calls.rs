//! Calls by which a stopped agent reports: what they would have somebody ask the model finds room, or they are refused.

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::{TestWorld, with};

/// How many requests the session may make, and what a row adds to the other limits: tokens, and US dollars.
const CAP: u64 = 14;
const TOKENS: f64 = 1_030.0;
const USD: f64 = 0.005_84;
/// How many agents are started.
const AGENTS: usize = 8;
/// How many hooks ask the model at the end of each call.
const HOOKS: u64 = 10;

fn message(number: usize) -> Value {
    let input = json!({"to": format!("a{number}"), "message": "go on"});
    json!({"tool_name": "SendMessage", "tool_use_id": format!("m{number}"), "tool_input": input})
}

/// Has agents start that end by themselves, each after a response in words.
fn start_agents(story: &Story) {
    for number in 0..AGENTS {
        let input =
            json!({"description": "d", "prompt": "work", "subagent_type": "Explore", "run_in_background": true});
        let call = json!({"tool_name": "Agent", "tool_use_id": format!("s{number}"), "tool_input": input});
        story.event("PreToolUse", &call);
        let who = json!({"agent_id": format!("a{number}"), "agent_type": "Explore"});
        story.event("SubagentStart", &who);
        let meta = json!({"agentType": "Explore", "toolUseId": format!("s{number}"), "spawnDepth": 1});
        story.world.write(&format!("s1/subagents/agent-a{number}.meta.json"), meta.to_string());
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let message = json!({"id": format!("a-m{number}"), "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": story.now(), "message": message});
        story.world.append(&format!("s1/subagents/agent-a{number}.jsonl"), format!("{row}\n"));
        story.event("SubagentStop", &with(who, &json!({"stop_hook_active": false})));
        let result = json!({"tool_response": {"status": "async_launched", "agentId": format!("a{number}")}});
        story.event("PostToolUse", &with(call, &result));
    }
}

/// Has the main agent work until it is to report, with a row for each response.
fn work_until_stopped(story: &Story) {
    for number in 0.. {
        story.write(&[&format!("b{number}")]);
        let answer = story.batch(&format!("t{number}"));
        assert!(!answer.contains("\"continue\":false"), "{answer}");
        if answer.contains("may still report") {
            return;
        }
    }
}

fn session(key: &str, cap: f64) -> Value {
    json!({"session": {key: cap, "timeout_action": "terminate"}})
}

#[test]
fn messages_of_a_report_wake_no_more_agents_than_there_is_room_for() {
    for (key, each) in [("max_requests", 1.0), ("max_tokens", TOKENS), ("max_cost_usd", USD)] {
        let story = Story::begin(&session(key, CAP as f64 * each));
        story.write(&["m0"]);
        start_agents(&story);
        work_until_stopped(&story);
        let may = |number: &usize| !story.event("PreToolUse", &message(*number)).contains("\"deny\"");
        let woken = (0..AGENTS).filter(may).count();
        assert!(woken <= 1, "{key}: {woken} were woken");
    }
}

#[test]
fn a_report_is_written_although_hooks_that_find_no_room_are_brought_by_no_call() {
    for (hooks, run) in [(0, 20), (HOOKS, 0)] {
        let lay_out = |world: &mut TestWorld| {
            let hooks: Vec<Value> =
                (0..hooks).map(|it| json!({"type": "prompt", "prompt": format!("is {it} well?")})).collect();
            let settings = json!({"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": hooks}]}});
            world.write("project/.claude/settings.json", settings.to_string());
        };
        let story = Story::with(&session("max_requests", CAP as f64), lay_out);
        work_until_stopped(&story);
        let may = |number: &usize| {
            let input = json!({"file_path": format!("r{number}"), "content": "done"});
            let call = json!({"tool_name": "Write", "tool_use_id": format!("w{number}"), "tool_input": input});
            !story.event("PreToolUse", &call).contains("\"deny\"")
        };
        assert_eq!((0..20).filter(may).count(), run, "{hooks} hooks");
    }
}
