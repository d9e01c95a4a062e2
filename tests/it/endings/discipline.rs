//! The text about discipline at the end of the prompt of an agent that is about to start.

use fusebox::domain::ingested::Ingested;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::session::Session;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::limit_source::LimitSource;
use fusebox::engine::outcome::outcome;
use fusebox::engine::session_state::SessionState;
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::events::EventName;
use fusebox::wire::input;
use fusebox::wire::output::{self, Answer, Case};
use fusebox::wire::read_event;
use fusebox::wire::tool_input::ToolInput;
use serde_json::{Value, json};

/// Has a text for developers alone.
struct ForDevelopers;

impl LimitSource for ForDevelopers {
    fn main(&self) -> LimitSet {
        LimitSet::default()
    }
    fn agent(&self, _: &str, _: Option<&str>) -> LimitSet {
        LimitSet::default()
    }
    fn discipline(&self, agent_type: &str) -> Option<String> {
        (agent_type == "developer").then(|| "## EXECUTION DISCIPLINE\nStop after 25 tool calls.\n".to_owned())
    }
}

/// Answers to a spawn with this input.
fn answer(tool_input: &Value) -> String {
    let text = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "prompt_id": "p1", "tool_name": "Agent",
        "tool_use_id": "t1", "tool_input": tool_input})
    .to_string();
    let input = input::parse(text.as_bytes()).unwrap();
    let event = read_event::event(&input, crate::state::at(0), true, &Guard::default());
    let mut state = SessionState::new(Session { id: "s1".to_owned(), ..Session::default() });
    let (run, verdict) = apply_event(&mut state, &event, &Ingested::default(), &ForDevelopers);
    let name = Some(EventName::PreToolUse);
    let outcome = outcome(&state, &run, &event, &verdict);
    let tool_input = input.tool_input.as_ref().map(ToolInput::json);
    let case = Case { name, event: &event, outcome: &outcome, tool_input };
    output::answer(&case, &verdict).text()
}

#[test]
fn discipline_stands_once_at_the_end_of_the_prompt() {
    let spawn = |prompt: &str| json!({"description": "d", "prompt": prompt, "subagent_type": "developer", "run_in_background": true});
    let told = answer(&spawn("Fix the tests.\n"));
    let said: Value = serde_json::from_str(&told).unwrap();
    let prompt = "Fix the tests.\n\n## EXECUTION DISCIPLINE\nStop after 25 tool calls.";
    let specific = json!({"hookEventName": "PreToolUse", "updatedInput": spawn(prompt)});
    assert_eq!(said, json!({ "hookSpecificOutput": specific }), "no other field, and no permission");
    let second: Value = serde_json::from_str(&Answer::decision_only(&told)).unwrap();
    assert_eq!(second, said, "a second process says the same");
    assert_eq!(answer(&spawn(prompt)), "", "it is there already");
    let other = json!({"prompt": "Look around.", "subagent_type": "Explore"});
    assert_eq!(answer(&other), "");
    assert_eq!(answer(&json!({"prompt": 7, "subagent_type": "developer"})), "");
}
