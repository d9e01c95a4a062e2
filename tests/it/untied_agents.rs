//! Agents that are tied to no call of theirs, whatever their type is called: they take the room that they take, and nobody else's.

use serde_json::{Value, json};

use crate::corners::{call, event, policy};
use crate::state::load;
use crate::world::{TestWorld, with};

fn begin(limits: &Value) -> TestWorld {
    let world = TestWorld::new();
    policy(&world, limits);
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    world
}

/// Has an agent begin of which nothing is noted.
fn begins(world: &TestWorld, id: &str, agent_type: &str) {
    event(world, "SubagentStart", &json!({"agent_id": id, "agent_type": agent_type}));
}

/// Asks for agents, one after the other, until one is refused; returns how many were let through.
fn asks(world: &TestWorld, most: usize) -> usize {
    let is_let_through = |number: &usize| {
        let input = json!({"prompt": "x", "subagent_type": "Explore", "run_in_background": true});
        !event(world, "PreToolUse", &call(&format!("t{number}"), "Agent", &input)).contains("deny")
    };
    (0..most).take_while(is_let_through).count()
}

#[test]
fn an_agent_of_before_hides_no_start_of_later() {
    for (untied, expected) in [(0, 4), (1, 3), (2, 2), (4, 0)] {
        let world = begin(&json!({"session": {"max_parallel_subagents": 4, "timeout_action": "terminate"}}));
        (0..untied).for_each(|number| begins(&world, &format!("a{number}"), "Explore"));
        assert_eq!(asks(&world, 9), expected, "{untied} at work already");
    }
}

#[test]
fn an_agent_that_has_begun_takes_the_place_of_a_start() {
    let world = begin(&json!({"session": {"max_parallel_subagents": 3, "timeout_action": "terminate"}}));
    let spawn = |id: &str| call(id, "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    for number in 0..2 {
        assert_eq!(event(&world, "PreToolUse", &spawn(&format!("s{number}"))), "");
        begins(&world, &format!("a{number}"), "Explore");
    }
    assert_eq!(asks(&world, 9), 1, "two at work, which were asked for");
}

#[test]
fn an_agent_whose_type_is_called_main_is_no_main_agent() {
    let world = begin(
        &json!({"main": {"max_turns": 50}, "agents": {"main": {"max_turns": 2, "grace_turns": 0}, "*": {"max_turns": 2, "grace_turns": 0}},
        "session": {"max_parallel_subagents": 1, "timeout_action": "terminate"}}),
    );
    begins(&world, "a1", "main");
    let works = |id: &str| {
        let who = json!({"agent_id": "a1", "agent_type": "main"});
        !event(&world, "PreToolUse", &with(call(id, "Read", &json!({})), &who)).contains("deny")
    };
    assert_eq!(asks(&world, 9), 0, "it is a subagent at work");
    assert_eq!(["c1", "c2", "c3"].map(works), [true, true, false]);
    let (_, runs) = load(&world, "s1");
    let main: Vec<&str> = runs.iter().filter(|run| run.is_main()).map(|run| run.id.as_str()).collect();
    assert_eq!(main, ["p1"]);
}

/// Also where it is the first call of an agent that nobody was asked for.
#[test]
fn what_a_call_starts_is_counted_whoever_makes_it() {
    let agent = || ("Agent", json!({"prompt": "x", "subagent_type": "Explore"}));
    let workflow = || ("Workflow", json!({"script": "await agent('x')"}));
    let message = || ("SendMessage", json!({"to": "a0", "message": "go on", "summary": "on"}));
    for (limit, used, (tool, input)) in [
        ("max_subagents", 2, agent()),
        ("max_subagents", 2, workflow()),
        ("max_parallel_subagents", 1, agent()),
        ("max_parallel_subagents", 1, message()),
        ("max_delegation_depth", 1, agent()),
        ("max_delegation_depth", 1, workflow()),
    ] {
        let passes = |cap: usize| {
            let world = begin(&json!({"session": {limit: cap, "timeout_action": "terminate"}}));
            begins(&world, "a0", "Explore");
            event(
                &world,
                "SubagentStop",
                &json!({"agent_id": "a0", "agent_type": "Explore", "stop_hook_active": false}),
            );
            begins(&world, "a1", "Explore");
            let who = json!({"agent_id": "a1", "agent_type": "Explore"});
            let calls = [("c1", tool, &input), ("c2", "Read", &json!({}))];
            calls.map(|(id, tool, input)| {
                !event(&world, "PreToolUse", &with(call(id, tool, input), &who)).contains("deny")
            })
        };
        assert_eq!(passes(used), [false, true], "{limit} {used}, {tool}: the call alone is refused");
        assert_eq!(passes(used + 1), [true, true], "{limit} {}, {tool}", used + 1);
    }
}
