//! What a client writes in a session: its events, and the rows of its transcripts.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

/// The time in every row: that of the rows is their own, whatever the machine's clock says.
const TIME: &str = "2026-11-20T10:00:00.000Z";

/// A session of a fixture, or one agent in it.
#[derive(Clone)]
pub struct Session<'a> {
    /// Where it happens.
    pub fixture: &'a Fixture,
    id: String,
    agent: Option<&'static str>,
}

impl<'a> Session<'a> {
    /// Names a session.
    pub fn named(fixture: &'a Fixture, id: &str) -> Session<'a> {
        Session { fixture, id: id.to_owned(), agent: None }
    }

    /// Starts a session and gives it a prompt.
    pub fn begin(fixture: &'a Fixture, id: &str) -> Session<'a> {
        let session = Session::named(fixture, id);
        session.append(&[session.user(&json!("go"))]);
        for event in [session.starts(), session.prompt()] {
            fixture.hook().tell(&event).ok();
        }
        session
    }

    /// Returns a developer below the main agent.
    pub fn agent(&self, id: &'static str) -> Session<'a> {
        Session { agent: Some(id), ..self.clone() }
    }

    /// Returns where the transcript lies in the fixture.
    pub fn transcript(&self) -> String {
        match self.agent {
            Some(agent) => format!("live/{}/subagents/agent-{agent}.jsonl", self.id),
            None => format!("live/{}.jsonl", self.id),
        }
    }

    /// Adds rows to the transcript.
    pub fn append(&self, rows: &[Value]) {
        self.fixture.append(&self.transcript(), rows);
    }

    /// Returns an event, with `rest` in it.
    pub fn event(&self, name: &str, rest: &Value) -> Value {
        let mut event = json!({"session_id": self.id, "transcript_path": self.fixture.text(&format!("live/{}.jsonl", self.id)),
            "cwd": self.fixture.text("project"), "prompt_id": format!("{}-p1", self.id), "hook_event_name": name});
        let fields = event.as_object_mut().unwrap();
        if let Some(agent) = self.agent {
            fields.insert("agent_id".to_owned(), json!(agent));
            fields.insert("agent_type".to_owned(), json!("developer"));
        }
        fields.extend(rest.as_object().unwrap().clone());
        event
    }

    /// The client starts.
    pub fn starts(&self) -> Value {
        self.event("SessionStart", &json!({"source": "startup", "model": "claude-opus-5-5"}))
    }

    /// The user says what to do.
    pub fn prompt(&self) -> Value {
        self.event("UserPromptSubmit", &json!({"prompt": "go"}))
    }

    /// A call of a tool is about to run.
    pub fn requests(&self, tool: &str, id: &str) -> Value {
        self.event("PreToolUse", &json!({"tool_name": tool, "tool_input": input_of(tool, id), "tool_use_id": id}))
    }

    /// The call has run.
    pub fn ends(&self, tool: &str, id: &str) -> Value {
        let rest = json!({"tool_name": tool, "tool_input": input_of(tool, id), "tool_use_id": id,
            "tool_response": {"text": format!("done {id}")}, "duration_ms": 3});
        self.event("PostToolUse", &rest)
    }

    /// All calls of the response have results.
    pub fn batch(&self, tool: &str, id: &str) -> Value {
        let call = json!({"tool_name": tool, "tool_input": input_of(tool, id), "tool_use_id": id,
            "tool_response": format!("done {id}")});
        self.event("PostToolBatch", &json!({"tool_calls": [call]}))
    }

    /// The rows of a response with one call, which costs 0.00584 USD, and of the call's result.
    pub fn rows(&self, tool: &str, id: &str) -> [Value; 2] {
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": 2000});
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input_of(tool, id)}]);
        let message = json!({"role": "assistant", "id": format!("m-{id}"), "model": "claude-opus-5-5",
            "content": content, "usage": usage});
        [
            json!({"type": "assistant", "timestamp": TIME, "message": message}),
            self.user(&json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}])),
        ]
    }

    /// The row of what the user, or a tool, says.
    pub fn user(&self, content: &Value) -> Value {
        json!({"type": "user", "promptId": format!("{}-p1", self.id), "timestamp": TIME,
            "message": {"role": "user", "content": content}})
    }

    /// Makes one call as the client does, to the end of its batch where it is allowed.
    #[track_caller]
    pub fn works(&self, id: &str) -> Answer {
        let answer = self.fixture.hook().tell(&self.requests("Read", id)).ok();
        if answer == Answer::Allowed {
            self.goes_on(id);
        }
        answer
    }

    /// Does what follows a call that was allowed.
    #[track_caller]
    pub fn goes_on(&self, id: &str) {
        self.append(&self.rows("Read", id));
        for event in [self.ends("Read", id), self.batch("Read", id)] {
            self.fixture.hook().tell(&event).ok();
        }
    }
}

/// Returns what a tool is told: of each call something else, so that it is no loop.
fn input_of(tool: &str, id: &str) -> Value {
    match tool {
        "Agent" => json!({"subagent_type": "developer", "description": id, "prompt": "work"}),
        "WebSearch" => json!({"query": id}),
        _ => json!({"file_path": format!("/srv/{id}")}),
    }
}
