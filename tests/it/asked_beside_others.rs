//! Agents that work side by side until a person is asked for more: while nobody answers, what they share is not passed.

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::with;

/// What a first response writes to the cache and what each later one adds, in tokens; the rest of the prompt is read from it.
const FIRST: u64 = 12_500;
const LATER: u64 = 1_000;
const INPUT: u64 = 10;
const OUTPUT: u64 = 20;

/// What responses have used: their number, tokens, and pico-dollars.
#[derive(Clone, Copy, Debug, Default)]
struct Used([u64; 3]);

impl Used {
    /// Returns what a response of an agent uses, by its number, from 0.
    fn by(number: u64) -> Used {
        let (written, read) = if number == 0 { (FIRST, 0) } else { (LATER, FIRST + (number - 1) * LATER) };
        let cost = INPUT * 4_000_000 + OUTPUT * 20_000_000 + written * 5_000_000 + read * 200_000;
        Used([1, INPUT + OUTPUT + written, cost])
    }

    fn add(&mut self, other: Used) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

/// Returns what a response of an agent uses, by its number, as its row has it.
fn usage(number: u64) -> Value {
    let (written, read) = if number == 0 { (FIRST, 0) } else { (LATER, FIRST + (number - 1) * LATER) };
    json!({"input_tokens": INPUT, "output_tokens": OUTPUT, "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read})
}

/// A main agent that has started others in one response, and waits until they are done.
struct Crew {
    story: Story,
    /// How many responses each agent has got.
    responses: Vec<u64>,
    used: Used,
    calls: usize,
}

impl Crew {
    /// Begins a session, and has its main agent start others, as many as may be.
    fn start(policy: &Value, agents: usize) -> Crew {
        let story = Story::begin(policy);
        story.write_row("m0", &story.now(), &usage(0));
        let mut crew = Crew { story, responses: Vec::new(), used: Used::by(0), calls: 0 };
        for agent in 0..agents {
            let input = json!({"description": "d", "prompt": "work", "subagent_type": "Explore"});
            let call = json!({"tool_name": "Agent", "tool_use_id": format!("s{agent}"), "tool_input": input});
            if crew.story.event("PreToolUse", &call).contains("permissionDecision") {
                break;
            }
            crew.event(agent, "SubagentStart", &json!({}));
            let meta = json!({"agentType": "Explore", "toolUseId": format!("s{agent}"), "spawnDepth": 1});
            crew.story.world.write(&format!("s1/subagents/agent-a{agent}.meta.json"), meta.to_string());
            crew.responses.push(0);
        }
        (0..crew.responses.len()).for_each(|agent| crew.asks_the_model(agent));
        crew
    }

    fn event(&self, agent: usize, name: &str, rest: &Value) -> String {
        let who = json!({"agent_id": format!("a{agent}"), "agent_type": "Explore"});
        self.story.event(name, &with(who, rest))
    }

    /// Writes the response of a request that was let through.
    fn asks_the_model(&mut self, agent: usize) {
        let number = self.responses[agent];
        let message = json!({"id": format!("m{agent}-{number}"), "model": "claude-opus-5-5", "usage": usage(number)});
        let row = json!({"type": "assistant", "timestamp": self.story.now(), "message": message});
        self.story.world.append(&format!("s1/subagents/agent-a{agent}.jsonl"), format!("{row}\n"));
        self.responses[agent] += 1;
        self.used.add(Used::by(number));
    }

    /// Has an agent make the call of its response; returns it where it has run.
    fn calls(&mut self, agent: usize) -> Option<Value> {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let call = json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}});
        if self.event(agent, "PreToolUse", &call).contains("permissionDecision") {
            return None;
        }
        let ended = with(call, &json!({"tool_response": "x"}));
        self.event(agent, "PostToolUse", &ended);
        Some(ended)
    }

    /// Ends the batch of a call, and has its agent ask the model again where it may; returns whether it did.
    fn goes_on(&mut self, agent: usize, call: &Value) -> bool {
        let answer = self.event(agent, "PostToolBatch", &json!({"tool_calls": [call]}));
        let may = !answer.contains("\"continue\":false");
        if may {
            self.asks_the_model(agent);
        }
        may
    }

    /// Has all agents work until each waits for an answer, or has been told to end: so many of them at the same time.
    fn work_until_all_wait(&mut self, at_once: usize) {
        let mut at_work: Vec<usize> = (0..self.responses.len()).collect();
        while !at_work.is_empty() {
            let now: Vec<usize> = at_work.drain(..at_once.min(at_work.len())).collect();
            let calls: Vec<_> = now.into_iter().filter_map(|agent| Some((agent, self.calls(agent)?))).collect();
            for (agent, call) in calls {
                if self.goes_on(agent, &call) {
                    at_work.push(agent);
                }
            }
        }
    }
}

/// Limits that agents share: whose, the key, which count of [`Used`] it is about, and in how many parts its unit is counted.
const SHARED: [(&str, &str, usize, f64); 3] = [
    ("session", "max_requests", 0, 1.0),
    ("session", "max_cost_usd", 2, 1e12),
    ("user", "max_cost_usd_per_day", 2, 1e12),
];
/// How many responses of each agent a cap has room for.
const ROOM: u64 = 5;

#[test]
fn while_nobody_answers_no_cap_is_passed_that_agents_share() {
    let mut wrong = Vec::new();
    for (agents, at_once, spare) in [(2, 2, 13), (8, 3, 2), (8, 8, 0), (8, 8, 3), (8, 8, 5)] {
        for (scope, key, count, parts) in SHARED {
            let mut room = Used::by(0);
            (0..agents).for_each(|_| (0..ROOM).for_each(|number| room.add(Used::by(number))));
            (0..spare).for_each(|_| room.add(Used::by(ROOM)));
            let cap = room.0[count];
            let policy = json!({scope: {key: cap as f64 / parts, "timeout_action": "request_increase"}});
            let mut crew = Crew::start(&policy, agents);
            crew.work_until_all_wait(at_once);
            let used = crew.used.0[count];
            // Nobody is asked before half is used, and of requests before there is room for no more than three of each agent.
            let least = if key == "max_requests" { cap - 3 * (agents as u64 + 1) } else { cap / 2 };
            if crew.responses.len() != agents || !(least..=cap).contains(&used) {
                wrong.push(format!("{key}: {used} of {cap} by {agents} agents, {at_once} at once, {spare} to spare"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
