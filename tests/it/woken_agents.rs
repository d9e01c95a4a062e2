//! Agents that their own tasks in the background wake, and that answer in words: no limit that is wider than their run is passed by more
//! than the request that is under way, and a person's stop holds them.

use serde_json::{Value, json};

use crate::corners::{call, event, policy};
use crate::world::{TestWorld, with};
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;

const WHO: &str = r#"{"agent_id": "a1", "agent_type": "developer"}"#;

struct Watching {
    world: TestWorld,
    answers: u32,
}

impl Watching {
    /// An agent that has a command watched, and has ended its turn.
    fn begin(limits: &Value) -> Watching {
        let world = TestWorld::new();
        policy(&world, limits);
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
        let spawn =
            call("t0", "Agent", &json!({"prompt": "x", "subagent_type": "developer", "run_in_background": true}));
        assert_eq!(event(&world, "PreToolUse", &spawn), "");
        let mut watching = Watching { world, answers: 0 };
        watching.event("SubagentStart", &json!({}));
        watching
            .world
            .write("s1/subagents/agent-a1.meta.json", r#"{"agentType":"developer","toolUseId":"t0","spawnDepth":1}"#);
        let watch =
            call("c1", "Monitor", &json!({"description": "m", "command": "tail -f log", "timeout_ms": 600_000}));
        watching.answers();
        watching.event("PreToolUse", &watch);
        watching.event(
            "PostToolUse",
            &with(watch.clone(), &json!({"tool_response": {"taskId": "m1", "timeoutMs": 600_000}})),
        );
        watching.event("PostToolBatch", &json!({"tool_calls": [watch]}));
        watching.answers();
        watching.event("SubagentStop", &json!({"stop_hook_active": false}));
        watching
    }

    fn event(&self, name: &str, rest: &Value) -> String {
        event(&self.world, name, &with(rest.clone(), &serde_json::from_str(WHO).unwrap()))
    }

    /// Writes a response of the agent's, which costs 0.00584 USD.
    fn answers(&mut self) {
        self.answers += 1;
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 2000});
        let time = rfc3339::format(Environment::real().now().wall_ms);
        let message = json!({"role": "assistant", "id": format!("a-m{}", self.answers), "model": "claude-opus-5-5", "content": [], "usage": usage});
        self.world.append(
            "s1/subagents/agent-a1.jsonl",
            format!("{}\n", json!({"type": "assistant", "timestamp": time, "message": message})),
        );
    }

    /// Has the command wake it; returns whether anything is left to wake it again.
    fn wakes(&mut self) -> bool {
        self.event("SubagentStart", &json!({}));
        self.answers();
        self.event("SubagentStop", &json!({"stop_hook_active": false}));
        let (_, runs) = crate::state::load(&self.world, "s1");
        runs.iter().any(|run| run.id == "a1" && !run.background.is_empty())
    }

    fn status(&self) -> String {
        let (_, runs) = crate::state::load(&self.world, "s1");
        format!("{:?}", runs.iter().find(|run| run.id == "a1").unwrap().status)
    }
}

#[test]
fn limits_wider_than_its_run_end_an_agent_that_wakes_itself() {
    for limits in [
        json!({"session": {"max_requests": 6, "timeout_action": "terminate", "grace_turns": 0}}),
        json!({"session": {"max_requests": 6, "timeout_action": "pause"}}),
        json!({"session": {"max_cost_usd": 0.036, "timeout_action": "terminate", "grace_turns": 0}}),
        json!({"user": {"max_cost_usd_per_day": 0.036}}),
        json!({"project": {"max_cost_usd_per_day": 0.036}}),
        json!({"agents": {"*": {"max_requests": 6, "grace_turns": 0}}}),
    ] {
        let mut watching = Watching::begin(&limits);
        let woken = (0..20).take_while(|_| watching.wakes()).count();
        assert!((2..=4).contains(&woken), "{limits}: it was woken {woken} times and has answered {}", watching.answers);
        assert!(["Failed", "Paused"].contains(&watching.status().as_str()), "{limits}: {}", watching.status());
    }
}

#[test]
fn where_a_limit_only_observes_or_has_room_an_agent_goes_on_as_it_is_woken() {
    for limits in [
        json!({"mode": "observe", "session": {"max_requests": 6, "timeout_action": "terminate", "grace_turns": 0}}),
        json!({"session": {"max_requests": 60, "timeout_action": "terminate"}}),
    ] {
        let mut watching = Watching::begin(&limits);
        assert!((0..9).all(|_| watching.wakes()), "{limits}: {}", watching.status());
    }
}

#[test]
fn a_persons_stop_ends_an_agent_that_wakes_itself() {
    for order in ["stop", "pause"] {
        let mut watching = Watching::begin(&json!({}));
        assert!(watching.wakes());
        watching.world.run(&[order, "s1"]).ok();
        assert!(!watching.wakes(), "{order}: {}", watching.status());
        assert!(["Stopped", "Paused"].contains(&watching.status().as_str()), "{order}: {}", watching.status());
    }
}

/// What is paused keeps its commands until one of them wakes it.
#[test]
fn an_agent_that_is_paused_by_a_limit_of_its_own_is_not_woken_for_ever() {
    let pauses = json!({"agents": {"*": {"max_requests": 4, "timeout_action": "pause"}}});
    let mut watching = Watching::begin(&pauses);
    let woken = (0..20).take_while(|_| watching.wakes()).count();
    assert!(woken <= 3, "it was woken {woken} times");
    assert_eq!(watching.status(), "Paused");
}

/// An agent that a person is asked about is awaited once it is let through.
#[test]
fn a_start_that_a_person_says_yes_to_is_awaited() {
    let world = TestWorld::new();
    policy(&world, &json!({"main": {"max_turns": 1, "timeout_action": "request_increase"}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    assert!(!event(&world, "PreToolUse", &call("t0", "Read", &json!({}))).contains("ask"));
    let spawn =
        call("t1", "Agent", &json!({"prompt": "execution_limits: { max_turns: 2 }", "subagent_type": "developer"}));
    let asked = event(&world, "PreToolUse", &spawn);
    assert!(asked.contains("\"ask\""), "{asked}");
    let (session, _) = crate::state::load(&world, "s1");
    let awaited: Vec<_> = session.spawns.iter().map(|spawn| (spawn.call.as_str(), spawn.limits.is_some())).collect();
    assert_eq!(awaited, [("t1", true)]);
}
