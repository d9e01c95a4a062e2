//! A session at work for tests of commands: its client is a process of the test, its main agent and one subagent take steps.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// Who takes the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The main agent.
    Main,
    /// The subagent `a1-0000`, of the type `worker`.
    Worker,
}

/// A session with its client.
pub struct Fixture {
    pub world: TestWorld,
    clients: Vec<Child>,
    clock: Clock,
    /// What the person was shown.
    heard: RefCell<Vec<String>>,
    /// Every answer of the main agent's, as it was given.
    answers: RefCell<String>,
}

/// How far a fixture has come.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    prompts: u32,
    calls: u32,
    client: usize,
    has_ended: bool,
    was_spawned: bool,
}

/// What one response of these tests costs is 0.00584 USD.
const USAGE: &str =
    r#"{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000}"#;

/// A process that stands for a client until its input ends.
fn client() -> Child {
    Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

impl Fixture {
    /// Makes a world with two clients, of which the first is at work.
    pub fn new() -> Fixture {
        Fixture {
            world: TestWorld::new(),
            clients: vec![client(), client()],
            clock: Clock::default(),
            heard: RefCell::default(),
            answers: RefCell::default(),
        }
    }

    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    pub fn rewind(&mut self, clock: &Clock) {
        self.clock = clock.clone();
    }

    /// Has the next call follow one that was made meanwhile.
    pub fn goes_on_after(&mut self, call: &str) {
        self.clock.calls = call.trim_start_matches('t').parse().unwrap();
    }

    /// Starts the session with its first prompt.
    pub fn begin(&mut self) {
        self.main("SessionStart", json!({"source": "startup"}));
        assert!(self.prompt());
    }

    /// Ends the session.
    pub fn end(&mut self) {
        self.main("SessionEnd", json!({"reason": "other"}));
        self.clock.has_ended = true;
    }

    /// The client ends the session and is gone.
    pub fn leaves(&mut self) {
        self.end();
        self.vanishes();
    }

    /// The client is gone, and has told no hook of it.
    pub fn vanishes(&mut self) {
        self.clock.has_ended = true;
        let client = &mut self.clients[self.clock.client];
        drop(client.stdin.take());
        client.wait().unwrap();
    }

    /// Makes the same call as before, in vain; returns whether nothing was refused.
    pub fn repeats(&mut self) -> bool {
        self.clock.calls += 1;
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": "f"},
            "tool_use_id": format!("t{}", self.clock.calls)});
        let mut ended = call.clone();
        ended["tool_response"] = json!("no");
        self.main("PreToolUse", call.clone()) && self.main("PostToolBatch", json!({"tool_calls": [ended]}))
    }

    /// The first client goes on.
    pub fn returns(&mut self) {
        self.clock.client = 0;
        self.clock.has_ended = false;
    }

    /// A response of an agent is written down.
    pub fn responds(&mut self, actor: Actor) {
        self.clock.calls += 1;
        self.respond(actor, self.clock.calls);
    }

    /// Returns the lines that the person was shown.
    pub fn heard(&self) -> Vec<String> {
        self.heard.borrow().clone()
    }

    /// Returns all that was answered to the main agent's client.
    pub fn answers(&self) -> String {
        self.answers.borrow().clone()
    }

    /// The worker ends its stretch.
    pub fn ends_worker(&self) {
        self.worker("SubagentStop", json!({"stop_hook_active": false}));
    }

    /// The main agent learns that the worker has ended; returns whether it goes on.
    pub fn is_notified(&mut self) -> bool {
        self.stops();
        self.hears_of_worker()
    }

    /// The same, where the main agent's turn has ended long before.
    pub fn hears_of_worker(&mut self) -> bool {
        self.clock.prompts += 1;
        let ended = "<task-id>a1-0000</task-id>\n<tool-use-id>spawn</tool-use-id>\n<status>completed</status>";
        self.main("UserPromptSubmit", json!({"prompt": format!("<task-notification>\n{ended}\n</task-notification>")}))
    }

    /// Any event of the main agent's.
    pub fn tells(&self, name: &str, rest: Value) {
        self.main(name, rest);
    }

    /// Returns the id of the last call.
    pub fn last_call(&self) -> String {
        format!("t{}", self.clock.calls)
    }

    /// The main agent ends its turn.
    pub fn stops(&self) {
        self.main("Stop", json!({}));
    }

    /// Another client takes the session up.
    pub fn takes_up(&mut self) {
        self.clock.client = 1;
        self.clock.has_ended = false;
        self.main("SessionStart", json!({"source": "resume"}));
    }

    /// A start of the session is announced, of a client's or of an agent's compaction.
    pub fn starts(&self, actor: Actor, source: &str) {
        self.event(actor, "SessionStart", json!({"source": source}));
    }

    /// Starts the worker with a prompt that says something of limits.
    pub fn spawn(&mut self, limits: &str) {
        let input = json!({"subagent_type": "worker", "prompt": format!("work\n{limits}"), "description": "d"});
        let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "spawn"});
        assert!(self.main("PreToolUse", call.clone()));
        let meta = json!({"agentType": "worker", "toolUseId": "spawn", "spawnDepth": 1});
        self.world.write("transcripts/s-0000/subagents/agent-a1-0000.meta.json", meta.to_string());
        self.worker("SubagentStart", json!({}));
        let mut ended = call.clone();
        ended["tool_response"] = json!({"isAsync": true, "status": "async_launched", "agentId": "a1-0000"});
        self.main("PostToolUse", ended);
        self.main("PostToolBatch", json!({"tool_calls": [call]}));
        self.clock.was_spawned = true;
    }

    /// Takes a step: a call, its response in the transcript, the end of the batch; returns whether nothing was refused.
    pub fn step(&mut self, actor: Actor) -> bool {
        self.clock.calls += 1;
        let number = self.clock.calls;
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("f{number}")},
            "tool_use_id": format!("t{number}")});
        if !self.event(actor, "PreToolUse", call.clone()) {
            return false;
        }
        let mut ended = call.clone();
        ended["tool_response"] = json!({"text": number});
        self.event(actor, "PostToolUse", ended);
        self.respond(actor, number);
        self.event(actor, "PostToolBatch", json!({"tool_calls": [call]}))
    }

    /// The main agent asks to call a tool; returns the answer.
    pub fn calls(&mut self, tool: &str) -> String {
        self.clock.calls += 1;
        let input = json!({"pattern": format!("f{}", self.clock.calls)});
        let id = format!("t{}", self.clock.calls);
        self.answer("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    }

    /// The dialog about the last call is answered with Yes: the call runs.
    pub fn says_yes(&mut self, actor: Actor) {
        let number = self.clock.calls;
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("f{number}")},
            "tool_use_id": format!("t{number}"), "tool_response": {"text": number}});
        self.event(actor, "PostToolUse", call.clone());
        self.event(actor, "PostToolBatch", json!({"tool_calls": [call]}));
    }

    /// The dialog about the last call is answered with No, and the agent goes on without the call.
    pub fn declines(&mut self, actor: Actor) {
        let number = self.clock.calls;
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": format!("f{number}")},
            "tool_use_id": format!("t{number}")});
        self.event(actor, "PostToolBatch", json!({"tool_calls": [call]}));
    }

    /// The dialog about the main agent's last call is answered with No: the client writes that down, and tells no hook.
    pub fn says_no(&self) {
        let result = json!([{"type": "tool_result", "tool_use_id": format!("t{}", self.clock.calls), "is_error": true,
            "content": "The user doesn't want to proceed with this tool use."}]);
        let row = json!({"type": "user", "message": {"role": "user", "content": result},
            "toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected"});
        let content = json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]);
        let now = rfc3339::format(Environment::real().now().wall_ms);
        let end = json!({"type": "user", "timestamp": now, "message": {"role": "user", "content": content}});
        let mut file = fs::OpenOptions::new().append(true).open(self.world.path("transcripts/s-0000.jsonl")).unwrap();
        file.write_all(format!("{row}\n{end}\n").as_bytes()).unwrap();
    }

    fn respond(&self, actor: Actor, number: u32) {
        let place = match actor {
            Actor::Main => "transcripts/s-0000.jsonl",
            Actor::Worker => "transcripts/s-0000/subagents/agent-a1-0000.jsonl",
        };
        let message = format!(r#"{{"id":"m{number}","model":"claude-opus-5-5","usage":{USAGE}}}"#);
        let now = rfc3339::format(Environment::real().now().wall_ms);
        let row = format!("{{\"type\":\"assistant\",\"timestamp\":\"{now}\",\"message\":{message}}}\n");
        let path = self.world.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(row.as_bytes()).unwrap();
    }

    /// Sends the next prompt; returns whether it was let through.
    pub fn prompt(&mut self) -> bool {
        self.clock.prompts += 1;
        self.main("UserPromptSubmit", json!({"prompt": "go on"}))
    }

    /// Whether the work goes on from here: a prompt to the main agent, a message to the worker, and a step of it.
    pub fn goes_on(&mut self, actor: Actor) -> bool {
        if self.clock.has_ended {
            self.clock.has_ended = false;
            self.main("SessionStart", json!({"source": "resume"}));
        }
        if !self.prompt() {
            return false;
        }
        if actor == Actor::Worker {
            self.clock.calls += 1;
            let id = format!("t{}", self.clock.calls);
            let message = json!({"to": "a1-0000", "message": "go on", "summary": "s"});
            let call = json!({"tool_name": "SendMessage", "tool_input": message, "tool_use_id": id});
            if !self.main("PreToolUse", call.clone()) || !self.main("PostToolUse", call) {
                return false;
            }
            self.worker("SubagentStart", json!({}));
        }
        self.step(actor)
    }

    fn event(&self, actor: Actor, name: &str, rest: Value) -> bool {
        match actor {
            Actor::Main => self.main(name, rest),
            Actor::Worker => self.worker(name, rest),
        }
    }

    fn worker(&self, name: &str, mut rest: Value) -> bool {
        rest["agent_id"] = json!("a1-0000");
        rest["agent_type"] = json!("worker");
        self.main(name, rest)
    }

    /// Sends an event of the main agent; returns whether it goes on without a person.
    fn main(&self, name: &str, rest: Value) -> bool {
        let is_shown = rest["agent_id"].is_null();
        let text = self.answer(name, rest);
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = answer["systemMessage"].as_str().filter(|_| is_shown).unwrap_or_default();
        self.heard.borrow_mut().extend(said.lines().map(str::to_owned));
        if is_shown {
            *self.answers.borrow_mut() += &text;
        }
        !["\"deny\"", "\"ask\"", "\"block\"", "\"continue\":false"].iter().any(|word| text.contains(word))
    }

    fn answer(&self, name: &str, rest: Value) -> String {
        let input = with(
            json!({"session_id": "s-0000", "transcript_path": self.world.path("transcripts/s-0000.jsonl"),
            "cwd": self.world.path("project"), "prompt_id": format!("p{}-0000", self.clock.prompts),
            "hook_event_name": name}),
            &rest,
        );
        let client = self.clients[self.clock.client].id().to_string();
        self.world.command(&["hook"]).env("CLAUDE_PID", &client).stdin(input).run().ok()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for client in &mut self.clients {
            drop(client.stdin.take());
            let _ended = client.wait();
        }
    }
}
