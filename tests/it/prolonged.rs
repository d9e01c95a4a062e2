//! A hook of the agent's own that prolongs its turns: each turn's end starts one more request, and none is a tool call. Every limit
//! that requests use up keeps that from going on, and an ordinary end is answered by nothing.

use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// Limits into which three of these responses fit, as a user's configuration.
const LIMITS: [(&str, &str, f64); 7] = [
    ("run", "max_requests", 3.0),
    ("run", "max_tokens", 3_500.0),
    ("run", "max_cost_usd", 0.02),
    ("session", "max_requests", 3.0),
    ("session", "max_tokens", 3_500.0),
    ("session", "max_cost_usd", 0.02),
    ("user", "max_cost_usd_per_day", 0.02),
];
const ACTIONS: [&str; 4] = ["terminate", "pause", "request_increase", "warn"];
/// How many turns the agent's hook would have.
const ENDLESS: usize = 8;

/// Returns the row of a response of today that costs 0.00584 USD.
#[expect(clippy::disallowed_methods, reason = "a budget of the day has what was spent today")]
fn row(id: usize) -> String {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let message = json!({"id": format!("m{id}"), "model": "claude-opus-5-5", "usage": usage});
    json!({"type": "assistant", "timestamp": now, "message": message}).to_string() + "\n"
}

/// An agent whose turns end again and again.
struct Agent {
    world: TestWorld,
    is_main: bool,
}

impl Agent {
    fn under(is_main: bool, (scope, key, cap): (&str, &str, f64), action: &str) -> Agent {
        let world = TestWorld::new();
        let scope = match (scope, is_main) {
            ("run", true) => "main",
            ("run", false) => "agents",
            (scope, _) => scope,
        };
        let cap = if cap.fract() == 0.0 { json!(cap as u64) } else { json!(cap) };
        let mut limits = json!({key: cap, "timeout_action": action, "grace_turns": 0});
        if scope == "agents" {
            limits = json!({"*": limits});
        }
        world.write("home/.claude/fusebox.json", json!({ scope: limits }).to_string());
        let agent = Agent { world, is_main };
        agent.tell("SessionStart", &json!({"source": "startup", "agent_id": null, "agent_type": null}));
        let begins = if is_main { ("UserPromptSubmit", json!({"prompt": "go"})) } else { ("SubagentStart", json!({})) };
        agent.tell(begins.0, &begins.1);
        agent
    }

    fn tell(&self, name: &str, rest: &Value) -> String {
        let who = if self.is_main { json!({}) } else { json!({"agent_id": "a1", "agent_type": "developer"}) };
        let mut event = self.world.event("s1", "p1", name, &with(who, rest));
        event.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        self.world.hook(&event).ok()
    }

    /// Lets the turn end, over and over; returns what its ends were answered. So many of the last responses are not on disk.
    fn ends(&self, late: usize) -> Vec<String> {
        let (file, event) = match self.is_main {
            true => ("s1.jsonl", "Stop"),
            false => ("s1/subagents/agent-a1.jsonl", "SubagentStop"),
        };
        let mut rows = Vec::new();
        let mut answers = Vec::new();
        while answers.len() < ENDLESS {
            rows.push(row(rows.len()));
            self.world.write(file, rows[..rows.len() - late].concat());
            answers.push(self.tell(event, &json!({"stop_hook_active": !answers.is_empty()})));
            if answers.last().unwrap().contains(r#""continue":false"#) {
                break;
            }
        }
        answers
    }
}

#[test]
fn no_limit_is_passed_by_turns_that_a_hook_prolongs() {
    let mut wrong = Vec::new();
    for (limit, action, is_main, late) in LIMITS
        .into_iter()
        .flat_map(|limit| ACTIONS.map(|action| (limit, action)))
        .flat_map(|(limit, action)| [(limit, action, true, 0), (limit, action, false, 1)])
    {
        let answers = Agent::under(is_main, limit, action).ends(late);
        let most = if action == "warn" { ENDLESS } else { 3 };
        let ended = answers.last().unwrap().contains(limit.1);
        if answers.len() != most || ended != (action != "warn") || !answers[0].is_empty() {
            wrong.push(format!(
                "{limit:?} {action} main {is_main}, {late} late: {} responses: {answers:?}",
                answers.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
