//! A message to an agent that was ended asks for one more request of it, whatever has ended it.

use serde_json::{Value, json};

use crate::corners::{call, event, policy};
use crate::world::{TestWorld, with};

fn of_agent(rest: &Value) -> Value {
    with(json!({"agent_id": "a1", "agent_type": "Explore"}), rest)
}

#[test]
fn a_message_wakes_no_agent_that_a_limit_has_ended() {
    for (limits, command) in [(json!({"max_turns": 1}), "ls"), (json!({"max_denials": 1}), "fusebox off")] {
        let world = TestWorld::new();
        let rules = with(json!({"timeout_action": "terminate", "grace_turns": 0}), &limits);
        policy(&world, &json!({"agents": {"Explore": rules}, "main": {"max_denials": null}}));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
        let spawn = call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
        event(&world, "PreToolUse", &spawn);
        event(&world, "SubagentStart", &of_agent(&json!({})));
        let is_ended = |number: &usize| {
            let asks = call(&format!("c{number}"), "Bash", &json!({"command": command}));
            let batch = of_agent(&json!({"tool_calls": [asks.clone()]}));
            let answers = event(&world, "PreToolUse", &of_agent(&asks)) + &event(&world, "PostToolBatch", &batch);
            answers.contains(r#""continue":false"#)
        };
        assert!((0..4).any(|number| is_ended(&number)), "{limits} ends it");
        event(&world, "SubagentStop", &of_agent(&json!({"stop_hook_active": false})));
        let report = json!({"tool_response": {"status": "completed", "agentId": "a1"}});
        event(&world, "PostToolUse", &with(spawn, &report));
        for number in 0..3 {
            let asks = call(&format!("m{number}"), "SendMessage", &json!({"to": "a1", "message": "go on"}));
            let answer = event(&world, "PreToolUse", &asks);
            assert!(answer.contains(r#""permissionDecision":"deny""#), "{limits}, message {number}: {answer}");
        }
    }
}

/// Refused messages are refusals like others: who goes on sending them is ended.
#[test]
fn whoever_messages_an_ended_agent_again_and_again_is_ended() {
    let world = TestWorld::new();
    let rules = json!({"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0});
    policy(&world, &json!({"agents": {"Explore": rules}, "main": {"max_denials": 5}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let spawn = call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    event(&world, "PreToolUse", &spawn);
    event(&world, "SubagentStart", &of_agent(&json!({})));
    for number in 0..2 {
        let asks = call(&format!("c{number}"), "Bash", &json!({"command": "ls"}));
        event(&world, "PreToolUse", &of_agent(&asks));
        event(&world, "PostToolBatch", &of_agent(&json!({"tool_calls": [asks]})));
    }
    event(&world, "SubagentStop", &of_agent(&json!({"stop_hook_active": false})));
    event(&world, "PostToolUse", &with(spawn, &json!({"tool_response": {"status": "completed", "agentId": "a1"}})));
    let is_ended = |number: &usize| {
        let asks = call(&format!("m{number}"), "SendMessage", &json!({"to": "a1", "message": "go on"}));
        let answer = event(&world, "PreToolUse", &asks);
        assert!(answer.contains(r#""permissionDecision":"deny""#), "message {number}: {answer}");
        let after = event(&world, "PostToolBatch", &json!({"tool_calls": [asks]}));
        (answer + &after).contains(r#""continue":false"#)
    };
    assert_eq!((0..20).position(|number| is_ended(&number)), Some(6), "it is told at the fifth, and may report");
}

/// What a stopped agent had repeated is said of it, whatever the agent that sends to it has done.
#[test]
fn a_message_to_an_agent_that_has_repeated_itself_is_refused_with_what_it_repeated() {
    let world = TestWorld::new();
    policy(&world, &json!({}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let spawn = call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    event(&world, "PreToolUse", &spawn);
    let report = json!({"tool_response": {"status": "completed", "agentId": "a1"}});
    for round in 0..3 {
        event(&world, "SubagentStart", &of_agent(&json!({})));
        let is_ended = |number: &usize| {
            let asks = call(&format!("c{round}-{number}"), "Read", &json!({"file_path": "f"}));
            let batch = of_agent(&json!({"tool_calls": [with(asks.clone(), &json!({"tool_response": "no"}))]}));
            let answers = event(&world, "PreToolUse", &of_agent(&asks)) + &event(&world, "PostToolBatch", &batch);
            answers.contains(r#""continue":false"#)
        };
        assert!((0..20).any(|number| is_ended(&number)), "round {round} ends it");
        event(&world, "SubagentStop", &of_agent(&json!({"stop_hook_active": false})));
        if round == 0 {
            event(&world, "PostToolUse", &with(spawn.clone(), &report));
        }
        for number in 0..3 {
            let asks = call(&format!("m{round}-{number}"), "SendMessage", &json!({"to": "a1", "message": "go on"}));
            let answer = event(&world, "PreToolUse", &asks);
            let is_said = answer.contains(r#""permissionDecision":"deny""#) && answer.contains("repetition: Read ");
            assert!(is_said && !answer.contains(":  ("), "round {round}, message {number}: {answer}");
        }
        world.run(&["resume", "a1"]).ok();
        let asks = call(&format!("m{round}"), "SendMessage", &json!({"to": "a1", "message": "go on"}));
        assert!(!event(&world, "PreToolUse", &asks).contains("deny"));
    }
}
