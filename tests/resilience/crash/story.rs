//! A short session with a call, an agent and a last call, as the events and rows that the client writes in turn.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::session::Session;

/// What the client does next.
pub enum Step {
    /// Tells the hook.
    Event(Value),
    /// Adds rows to a file.
    Rows(String, Vec<Value>),
}

impl Step {
    /// Does it.
    #[track_caller]
    pub fn play(&self, fixture: &Fixture) {
        match self {
            Step::Event(event) => drop(fixture.hook().tell(event).ok()),
            Step::Rows(place, rows) => fixture.append(place, rows),
        }
    }

    /// Returns the event that it tells.
    pub fn event(&self) -> &Value {
        match self {
            Step::Event(event) => event,
            Step::Rows(place, _) => panic!("rows of {place}"),
        }
    }

    /// Returns the event's name.
    pub fn name(&self) -> &str {
        self.event()["hook_event_name"].as_str().unwrap()
    }
}

/// Tells the whole of it.
pub fn story(fixture: &Fixture) -> Vec<Step> {
    let main = Session::named(fixture, "s1");
    let agent = main.agent("a1");
    let rows =
        |session: &Session, tool: &str, id: &str| Step::Rows(session.transcript(), session.rows(tool, id).to_vec());
    let meta = json!({"agentType": "developer", "toolUseId": "t2", "spawnDepth": 1});
    let over = json!({"tool_name": "Agent", "tool_input": {}, "tool_use_id": "t2", "duration_ms": 9,
        "tool_response": {"status": "completed", "agentId": "a1"}});
    let ended = json!({"stop_hook_active": false, "last_assistant_message": "done", "background_tasks": []});
    vec![
        Step::Rows(main.transcript(), vec![main.user(&json!("go"))]),
        Step::Event(main.starts()),
        Step::Event(main.prompt()),
        Step::Event(main.requests("Read", "t1")),
        rows(&main, "Read", "t1"),
        Step::Event(main.ends("Read", "t1")),
        Step::Event(main.batch("Read", "t1")),
        Step::Event(main.requests("Agent", "t2")),
        Step::Rows(agent.transcript().replace(".jsonl", ".meta.json"), vec![meta]),
        Step::Event(agent.event("SubagentStart", &json!({}))),
        Step::Event(agent.requests("Read", "u1")),
        rows(&agent, "Read", "u1"),
        Step::Event(agent.ends("Read", "u1")),
        Step::Event(agent.batch("Read", "u1")),
        Step::Event(agent.event("SubagentStop", &ended)),
        rows(&main, "Agent", "t2"),
        Step::Event(main.event("PostToolUse", &over)),
        Step::Event(main.batch("Agent", "t2")),
        Step::Event(main.requests("Read", "t3")),
        rows(&main, "Read", "t3"),
        Step::Event(main.ends("Read", "t3")),
        Step::Event(main.batch("Read", "t3")),
        Step::Event(main.event("Stop", &ended)),
        Step::Event(main.event("SessionEnd", &json!({"reason": "other"}))),
    ]
}

/// Lets the write-ahead log grow until the step would fold it back.
pub fn until_it_folds(fixture: &Fixture, step: &Step) {
    let log = fixture.path("live/state/state.db-wal");
    let dialog = Session::named(fixture, "s1").event("PermissionRequest", &json!({"tool_name": "Read"}));
    for _ in 0..100 {
        fixture.keep("trial");
        step.play(fixture);
        let folds = fs::metadata(&log).unwrap().len() == 0;
        fixture.put_back("trial");
        if folds {
            return;
        }
        fixture.hook().tell(&dialog).ok();
    }
    panic!("nothing folds the log back");
}
