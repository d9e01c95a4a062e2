//! How deep agents are, whatever is noted of them.

use serde_json::{Value, json};

use crate::corners::{call, event, policy};
use crate::world::TestWorld;

#[test]
fn an_agent_nobody_asked_for_spawns_no_deeper_than_others() {
    let world = TestWorld::new();
    policy(&world, &json!({"session": {"max_delegation_depth": 1, "timeout_action": "terminate"}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    event(&world, "PreToolUse", &call("t0", "Read", &json!({})));
    event(&world, "PostToolBatch", &json!({"tool_calls": [call("t0", "Read", &json!({}))]}));
    let sub = |id: &str, mut rest: Value| {
        rest["agent_id"] = json!(id);
        rest["agent_type"] = json!("Explore");
        rest
    };
    event(&world, "SubagentStart", &sub("a1", json!({})));
    world.write("s1/subagents/agent-a1.meta.json", json!({"agentType":"Explore","spawnDepth":1}).to_string());
    let answer = event(
        &world,
        "PreToolUse",
        &sub("a1", call("a-t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}))),
    );
    event(&world, "SubagentStart", &sub("a2", json!({})));
    world.write(
        "s1/subagents/agent-a2.meta.json",
        json!({"agentType":"Explore","spawnDepth":2,"toolUseId":"a-t1","parentAgentId":"a1"}).to_string(),
    );
    let second = event(&world, "PreToolUse", &sub("a2", call("b-t1", "Read", &json!({}))));
    assert!(answer.contains("deny") || second.contains("deny"), "{answer}\n{second}");
}

/// What the client notes beside an agent's transcript lies where an agent can write.
#[test]
fn what_is_noted_of_agents_makes_none_of_them_less_deep() {
    let of_call = |at: usize| json!({"agentType": "Explore", "toolUseId": format!("t{at}"), "spawnDepth": 1});
    let notes: [fn(Value) -> String; 6] = [
        |_| json!({"agentType": "Explore", "spawnDepth": 1}).to_string(),
        |_| json!({"agentType": "Explore", "toolUseId": "t0", "spawnDepth": 1}).to_string(),
        |_| String::new(),
        |_| "{".to_owned(),
        |note| note.to_string(),
        |note| note.to_string().replace(":1}", ":-5}"),
    ];
    for note in notes {
        let world = TestWorld::new();
        policy(&world, &json!({"session": {"max_delegation_depth": 2, "timeout_action": "terminate"}}));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
        let answers: Vec<bool> = (0..3)
            .map(|depth: usize| {
                let mut input =
                    call(&format!("t{depth}"), "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
                if depth > 0 {
                    input["agent_id"] = json!(format!("a{depth}"));
                    input["agent_type"] = json!("Explore");
                }
                let is_denied = event(&world, "PreToolUse", &input).contains("deny");
                let place = format!("s1/subagents/agent-a{}.meta.json", depth + 1);
                world.write(&place, note(of_call(depth)));
                let started = json!({"agent_id": format!("a{}", depth + 1), "agent_type": "Explore"});
                event(&world, "SubagentStart", &started);
                is_denied
            })
            .collect();
        assert_eq!(answers, [false, false, true], "{}", note(of_call(0)));
    }
}

/// A workflow starts agents by itself: its call tells that, and not how many.
#[test]
fn a_workflow_is_refused_where_no_room_is_left_for_one_agent() {
    for (limits, is_refused) in [
        (json!({"max_subagents": 0}), true),
        (json!({"max_subagents": 1}), false),
        (json!({"max_delegation_depth": 0}), true),
        (json!({"max_delegation_depth": 1}), false),
    ] {
        let world = TestWorld::new();
        policy(&world, &json!({"session": limits}));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
        let answer = event(&world, "PreToolUse", &call("t0", "Workflow", &json!({"script": "return 1"})));
        assert_eq!(answer.contains("deny"), is_refused, "{limits}: {answer}");
        let answer = event(&world, "PreToolUse", &call("t1", "Read", &json!({})));
        assert!(!answer.contains("deny"), "what starts no agent runs: {limits}: {answer}");
    }
}

/// A skill that works in an agent of its own starts one: that may answer in words alone, and ask nobody.
#[test]
fn a_skill_in_an_agent_of_its_own_is_refused_where_no_room_is_left_for_that() {
    let skill = |says: &str| format!("---\nname: sk\ndescription: d\n{says}---\nDo it.\n");
    for (limits, says, is_refused) in [
        (json!({"max_subagents": 0}), "context: fork\n", true),
        (json!({"max_subagents": 1}), "context: fork\n", false),
        (json!({"max_subagents": 0}), "", false),
        (json!({"max_delegation_depth": 0}), "context: 'fork'\nagent: Explore\n", true),
        (json!({"max_delegation_depth": 1}), "context: fork\n", false),
        // What cannot be read here, a client may read.
        (json!({"max_subagents": 0}), "context: &a fork\nhooks: *b\n", true),
    ] {
        let world = TestWorld::new();
        policy(&world, &json!({"session": limits}));
        world.write("project/.claude/skills/sk/SKILL.md", skill(says));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
        let answer = event(&world, "PreToolUse", &call("t0", "Skill", &json!({"skill": "sk"})));
        assert_eq!(answer.contains("deny"), is_refused, "{limits} {says}: {answer}");
    }
}
