//! A person decides late: the client's cache has lost the conversation by then, and what they were told to give is enough all the same.

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::session_commands::advice::grant;
use crate::world::TestWorld;

/// Longer than the cache keeps a prompt.
const LATE_MS: i64 = 6 * 60_000;

struct Played<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
}

impl Played<'_> {
    fn event(&self, name: &str, rest: &Value) -> String {
        self.time.hook(self.world.event("s1", "p1", name, rest))
    }

    /// A response that costs 0.00584 USD is written down, and its batch is over.
    fn responds(&mut self, number: usize) -> String {
        self.time.pass_ms(1_000);
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let message = json!({"id": format!("m{number}"), "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": rfc3339::format(self.time.now_ms()), "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": number}, "tool_use_id": format!("t{number}"),
            "tool_response": number});
        self.event("PostToolBatch", &json!({"tool_calls": [call]}))
    }

    fn prompt(&self) -> String {
        self.event("UserPromptSubmit", &json!({"prompt": "go on", "prompt_id": "p2"}))
    }
}

/// Returns what is wrong where a person gives late what they were told of in one place.
fn wrong(limits: &Value, place: &str) -> Option<String> {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", limits.to_string());
    let mut played = Played { world: &world, time: GivenTime::at(&world, BEGAN_MS) };
    played.event("SessionStart", &json!({"source": "startup"}));
    played.event("UserPromptSubmit", &json!({"prompt": "go"}));
    let stopped = (0..30).map(|number| played.responds(number)).find(|answer| answer.contains("fusebox grant"));
    let stopped = stopped.unwrap_or_default();
    played.event("Stop", &json!({}));
    let text = match place {
        "stop" => stopped,
        "prompt" => played.prompt(),
        command => played.time.run(&[command]).to_string(),
    };
    let Some(words) = grant(&text) else { return Some(format!("{limits}: {place} names no grant: {text}")) };
    played.time.pass_ms(LATE_MS);
    let said = played.time.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).to_string();
    let again = played.prompt();
    let is_enough = !again.contains("\"block\"") && !said.contains("not enough");
    (!is_enough).then(|| format!("{limits} {place}: {words:?}\n{said}\n{again}\nfrom: {text}"))
}

#[test]
fn a_grant_that_a_person_is_told_is_enough_after_the_cache_is_gone() {
    let session = |limit: &str, cap: Value, increase: Value| json!({"session": {limit: cap, "increase": {limit: increase}, "grace_turns": 0, "warn_at": []}});
    let policies = [
        session("max_cost_usd", json!(0.05), json!(0.006)),
        session("max_tokens", json!(9000), json!(1100)),
        json!({"user": {"max_cost_usd_per_day": 0.05, "increase": {"max_cost_usd_per_day": 0.006}}}),
    ];
    let places = ["stop", "prompt", "status", "explain"];
    let wrong: Vec<String> =
        policies.iter().flat_map(|limits| places.iter().filter_map(|place| wrong(limits, place))).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
