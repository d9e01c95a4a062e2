//! Agents that the client runs beside the main one: teammates, of which it notes no call and their name for a type; and those that go on
//! without being asked.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::nested::{self, Processes};
use crate::state::load;
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

/// An agent can write the file beside its transcript before the client's first event of it reads that.
#[test]
fn no_file_makes_an_agent_freer_than_its_type() {
    let policy = json!({"agents": {"developer": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"},
        "free": {"max_turns": 50}}});
    // The client calls an agent by its type, and a teammate by its name.
    for (name, called) in [(None, "developer"), (Some("helper"), "developer"), (Some("helper"), "helper")] {
        for noted in [
            json!({"agentType": "developer", "toolUseId": "t1", "spawnedAgentType": "free"}),
            json!({"agentType": "free", "toolUseId": "t1", "spawnedAgentType": "free"}),
            json!({"agentType": "developer", "spawnedAgentType": "free"}),
            json!({"name": "developer", "spawnedAgentType": "free"}),
            json!({"name": "helper", "spawnedAgentType": "free"}),
            json!({"toolUseId": "t2", "spawnedAgentType": "free"}),
            json!({"name": "other", "spawnedAgentType": "free"}),
        ] {
            let team = Team::under(&policy);
            for (call, kind, name) in [("t1", "developer", name), ("t2", "free", Some("other"))] {
                let input = json!({"description": "d", "prompt": "go", "subagent_type": kind, "name": name});
                team.tells("PreToolUse", &json!({"tool_name": "Agent", "tool_use_id": call, "tool_input": input}));
            }
            team.tells("SubagentStart", &json!({"agent_id": "a1", "agent_type": called}));
            team.0.write("s1/subagents/agent-a1.meta.json", noted.to_string());
            let worked = ["c1", "c2", "c3"].map(|call| {
                let call = json!({"agent_id": "a1", "agent_type": called, "tool_name": "Read", "tool_use_id": call,
                    "tool_input": {"file_path": "/x"}});
                !team.tells("PreToolUse", &call).contains("deny")
            });
            assert_eq!(worked, [true, true, false], "{called}, named {name:?}, by {noted}");
        }
    }
}

/// The state was lost meanwhile: nothing is known of a teammate's call.
#[test]
fn a_teammate_that_nobody_knows_is_bound_by_what_its_file_says_too() {
    let team = Team::under(
        &json!({"agents": {"developer": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}}}),
    );
    let noted = json!({"agentType": "k0", "name": "k0", "spawnedAgentType": "developer"});
    team.0.write(&format!("s1/subagents/agent-{}.meta.json", id("k0")), noted.to_string());
    let worked = ["c1", "c2", "c3"].map(|call| team.works("k0", call));
    assert_eq!(worked, [true, true, false]);
}

/// A client in a terminal of its own, below no other one, that its command line makes a teammate of a session.
struct Alone(Child);

impl Alone {
    fn of(session: &str) -> Alone {
        let words = ["-c", "cat >/dev/null; true", "claude", "--agent-id", "k0@team", "--parent-session-id", session];
        Alone(Command::new("/bin/sh").args(words).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Begins a session in a folder; returns whose it is.
    fn begins(&self, world: &TestWorld, session: &str, place: &str) -> Option<String> {
        world.write(&format!("{place}/README"), "");
        let mut input = world.event(session, "p", "SessionStart", &json!({"source": "startup"}));
        input["cwd"] = json!(world.path(place));
        world.command(&["hook"]).env("CLAUDE_PID", &self.0.id().to_string()).stdin(input).run().ok();
        load(world, session).0.outer
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

#[test]
fn one_in_a_terminal_of_its_own_is_its_leaders_while_that_is_at_work() {
    let world = TestWorld::new();
    world.write("project/.claude/fusebox.json", json!({"session": {"max_turns": 2, "grace_turns": 0}}).to_string());
    let processes = Processes::start();
    let leader = processes.pids[0];
    nested::start(&world, leader, "s1");
    let (one, other, elsewhere) = (Alone::of("s1"), Alone::of("never-seen"), Alone::of("s1"));
    assert_eq!(one.begins(&world, "s2", "project"), Some("s1".to_owned()));
    assert_eq!(other.begins(&world, "s3", "project"), None);
    assert_eq!(elsewhere.begins(&world, "s4", "elsewhere"), None, "another project's");
    let works = |client, session, call| !nested::call(&world, client, session, call).contains("deny");
    let worked = ["t1", "t2", "t3"].map(|call| works(one.0.id(), "s2", call));
    assert_eq!((worked, works(leader, "s1", "t4")), ([true, true, false], false));
    nested::event(&world, leader, "s1", "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(Alone::of("s1").begins(&world, "s5", "project"), None, "the leader has ended");
}

#[test]
fn one_that_goes_on_past_its_stop_is_told_of_once() {
    let team = Team::under(&json!({"agents": {"*": {"max_turns": 1, "grace_turns": 0}}}));
    let observer = json!({"agent_id": "a1", "agent_type": "o0"});
    let tells = |name: &str, rest: &Value| {
        team.0.hook(team.0.event("s1", "p", name, &crate::world::with(observer.clone(), rest))).ok()
    };
    let mut said = String::new();
    for at in 0..6 {
        said += &tells("SubagentStart", &json!({}));
        let call = |of: &str| json!({"tool_name": "Read", "tool_use_id": format!("{of}{at}"), "tool_input": {"file_path": "/x"}});
        said += &tells("PreToolUse", &call("c"));
        said += &tells("SubagentStop", &json!({"stop_hook_active": false}));
        said += &team.tells("PreToolUse", &call("m"));
        said += &team.tells("PostToolUse", &crate::world::with(call("m"), &json!({"tool_response": {}})));
    }
    assert_eq!(said.matches("\"systemMessage\":\"Fusebox stopped").count(), 1, "{said}");
}
