//! A held agent that goes on beside others: a limit on how many may work at once judges those that begin.

use serde_json::{Value, json};

use crate::held_pauses::{call, ended, held, hook, input, of, run, world_of};
use crate::world::TestWorld;

/// The main agent starts an agent; returns what the call was answered.
fn spawn(world: &TestWorld, agent: &str, kind: &str) -> String {
    let call =
        json!({"tool_name": "Agent", "tool_use_id": agent, "tool_input": {"subagent_type": kind, "prompt": "go"}});
    let answer = hook(world, input(world, "PreToolUse", &call));
    if !answer.contains("deny") {
        hook(world, input(world, "SubagentStart", &json!({"agent_id": agent, "agent_type": kind})));
    }
    answer
}

#[test]
fn a_resumed_agent_is_not_said_to_be_stopped_by_a_limit_on_agents_at_once() {
    let policy = |at_once: u64| {
        let developer = json!({"max_turns": 2, "warn_at": [], "timeout_action": "pause"});
        let session = json!({"max_parallel_subagents": at_once});
        json!({"pause_wait_ms": "10m", "session": session, "agents": {"developer": developer}})
    };
    let world = world_of(&policy(2));
    hook(&world, input(&world, "SessionStart", &json!({"source": "startup"})));
    hook(&world, input(&world, "UserPromptSubmit", &json!({"prompt": "go"})));
    assert_eq!(spawn(&world, "a1", "developer"), "");
    assert_eq!(spawn(&world, "a2", "general-purpose"), "");
    for id in ["t1", "t2"] {
        assert!(!hook(&world, of("a1", call(&world, id))).contains("deny"));
        hook(&world, of("a1", ended(&world, id)));
    }
    world.write("home/.claude/fusebox.json", policy(1).to_string());
    let _said = world.run(&["reload"]).ok();
    let third = held(&world, of("a1", call(&world, "t3")), 1);
    let said = world.run(&["resume", "a1", "--grant", "max_turns=+10"]).ok();
    assert!(!said.contains("max_parallel_subagents"), "{said}");
    assert!(!third.wait().ok().contains("deny"));
    assert_eq!(run(&world, "a1")["status"], Value::from("running"));
    let another = spawn(&world, "a3", "Explore");
    assert!(another.contains("subagents at once 2/1"), "{another}");
}
