//! Whoever gives an agent less time than one of its steps takes is told that this is not enough.

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::TestWorld;

/// What each step of the agent takes.
const STEP_MS: i64 = 10_000;

struct Played<'a> {
    world: &'a TestWorld,
    time: GivenTime<'a>,
    steps: usize,
}

impl Played<'_> {
    fn event(&self, name: &str, rest: &Value) -> String {
        self.time.hook(self.world.event("s1", "p1", name, rest))
    }

    /// A response comes and calls a tool, which takes no time; returns whether that was let through.
    fn steps(&mut self) -> bool {
        self.steps += 1;
        self.time.pass_ms(STEP_MS);
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let message = json!({"id": format!("m{}", self.steps), "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": rfc3339::format(self.time.now_ms()), "message": message});
        self.world.append("s1.jsonl", format!("{row}\n"));
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": self.steps},
            "tool_use_id": format!("t{}", self.steps)});
        let asked = self.event("PreToolUse", &call);
        let is_let = !asked.contains("deny") && !asked.contains("\"continue\":false");
        if is_let {
            self.event("PostToolBatch", &json!({"tool_calls": [call]}));
        }
        is_let
    }
}

#[test]
fn a_grant_of_time_that_no_step_fits_into_is_said_to_be_too_small() {
    let world = TestWorld::new();
    let limits = json!({"max_duration_ms": 30_000, "timeout_action": "pause", "grace_turns": 0});
    world.write("home/.claude/fusebox.json", json!({"main": limits}).to_string());
    let mut played = Played { world: &world, time: GivenTime::at(&world, BEGAN_MS), steps: 0 };
    played.event("UserPromptSubmit", &json!({"prompt": "go"}));
    assert!((0..9).any(|_| !played.steps()), "nothing has stopped it");
    let said = played.time.run(&["grant", "p1", "max_duration_ms=+4s"]).to_string();
    let enough = said.split('`').find(|word| word.starts_with("max_duration_ms=+")).map(str::to_owned);
    assert!(said.contains("it is not enough"), "{said}");
    let enough = enough.unwrap_or_else(|| panic!("{said}"));
    played.time.run(&["grant", "p1", &enough]).ok();
    played.event("UserPromptSubmit", &json!({"prompt": "go on", "prompt_id": "p2"}));
    assert!(played.steps(), "{enough}: it has done nothing: {said}");
}
