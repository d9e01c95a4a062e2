//! Teammates: agents with a name that the client runs beside the main one. What it notes of them names no call, and has their name for
//! a type.

use serde_json::{Value, json};

use crate::world::TestWorld;

struct Team(TestWorld);

impl Team {
    fn under(policy: &Value) -> Team {
        let team = Team(TestWorld::new());
        team.0.write("project/.claude/fusebox.json", policy.to_string());
        team.tells("SessionStart", &json!({"source": "startup"}));
        team.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        team
    }

    fn tells(&self, name: &str, rest: &Value) -> String {
        self.0.hook(self.0.event("s1", "p", name, rest)).ok()
    }

    /// Has the main agent spawn a teammate, and the client begin it; returns whether the call was let through.
    fn spawns(&self, name: &str) -> bool {
        let call = json!({"tool_name": "Agent", "tool_use_id": format!("t-{name}"), "tool_input":
            {"description": "d", "prompt": "go", "name": name, "subagent_type": "developer", "run_in_background": true}});
        if self.tells("PreToolUse", &call).contains("deny") {
            return false;
        }
        let (id, noted) = (
            id(name),
            json!({"agentType": name, "name": name, "spawnDepth": 0,
            "taskKind": "in_process_teammate", "spawnedAgentType": "developer"}),
        );
        self.0.write(&format!("s1/subagents/agent-{id}.meta.json"), noted.to_string());
        self.tells("SubagentStart", &json!({"agent_id": id, "agent_type": name}));
        let result = json!({"status": "teammate_spawned", "agentId": id, "agent_id": id, "name": name});
        self.tells("PostToolUse", &crate::world::with(call, &json!({"tool_response": result})));
        true
    }

    /// Has a teammate ask for a call; returns whether it was let through.
    fn works(&self, name: &str, call: &str) -> bool {
        let call = json!({"agent_id": id(name), "agent_type": name, "tool_name": "Read", "tool_use_id": call,
            "tool_input": {"file_path": "/x"}});
        !self.tells("PreToolUse", &call).contains("deny")
    }
}

fn id(name: &str) -> String {
    format!("a{name}-28ea")
}

#[test]
fn each_takes_one_place_among_the_agents_at_work() {
    let names = ["k0", "k1", "k2", "k3"];
    for cap in 1..=3 {
        let team = Team::under(&json!({"session": {"max_parallel_subagents": cap}}));
        for (at, name) in names[..=cap].iter().enumerate() {
            assert_eq!(team.spawns(name), at < cap, "{name} under a cap of {cap}");
        }
        for name in &names[..cap] {
            assert!(team.works(name, &format!("c-{name}")), "{name} under a cap of {cap}");
        }
    }
}

#[test]
fn each_is_bound_as_the_type_that_it_was_spawned_as() {
    let team = Team::under(&json!({"agents": {"developer": {"max_turns": 2, "grace_turns": 0}}}));
    assert!(team.spawns("k0"));
    let worked = ["c1", "c2", "c3"].map(|call| team.works("k0", call));
    assert_eq!(worked, [true, true, false]);
}
