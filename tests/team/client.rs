//! A client on a machine of a team, as its hooks know one.

use std::cell::Cell;
use std::fs;

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;

use crate::machine::Machine;

/// What goes into each response.
pub const INPUT: &str = r#""input_tokens":10,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000"#;

/// A client on a machine, with hooks as it runs them.
pub struct Client<'a> {
    machine: &'a Machine<'a>,
    id: &'a str,
    /// Its folder below the home.
    folder: &'a str,
    pub turns: Cell<usize>,
    /// How many tokens its next responses write.
    pub output: Cell<u64>,
    pub prompts: Cell<usize>,
}

impl<'a> Client<'a> {
    pub fn start(machine: &'a Machine<'a>, id: &'a str) -> Client<'a> {
        Client::start_in(machine, id, "")
    }

    pub fn start_in(machine: &'a Machine<'a>, id: &'a str, folder: &'a str) -> Client<'a> {
        let client = Client { folder, ..Client::named(machine, id) };
        client.event("SessionStart", r#""source":"startup""#);
        client
    }

    /// A client that has told nothing yet.
    pub fn named(machine: &'a Machine<'a>, id: &'a str) -> Client<'a> {
        Client { machine, id, folder: "", turns: Cell::new(0), output: Cell::new(20), prompts: Cell::new(0) }
    }

    pub fn event(&self, name: &str, rest: &str) -> String {
        self.machine.hook(&self.input(name, rest))
    }

    /// Writes what a client tells a hook.
    pub fn input(&self, name: &str, rest: &str) -> String {
        let (home, id, prompt) = (self.machine.home.path().display(), self.id, self.prompts.get());
        let folder = self.machine.home.path().join(self.folder);
        let folder = folder.display();
        format!(
            r#"{{"session_id":"{id}","transcript_path":"{home}/{id}.jsonl","cwd":"{folder}","prompt_id":"{id}-p{prompt}","hook_event_name":"{name}",{rest}}}"#
        )
    }

    /// Sends a prompt; returns the reason where it is kept back.
    pub fn prompt(&self) -> Option<String> {
        self.prompts.set(self.prompts.get() + 1);
        let answer = self.event("UserPromptSubmit", r#""prompt":"go""#);
        answer.contains(r#""decision":"block""#).then_some(answer)
    }

    /// Makes a response with a call, and ends its batch; returns the answer where the agent may not go on.
    pub fn turn(&self) -> Option<String> {
        let path = self.machine.home.path().join(format!("{}.jsonl", self.id));
        let rows = fs::read_to_string(&path).unwrap_or_default();
        let (row, events) = self.next_turn();
        fs::write(&path, rows + &row).unwrap();
        for event in &events {
            let answer = self.machine.hook(event);
            if answer.contains(r#""permissionDecision":"deny""#) || answer.contains(r#""continue":false"#) {
                return Some(answer);
            }
        }
        None
    }

    /// Returns the row of a response with a call, and what the client tells of it: that it is asked for, and ends with its batch.
    pub fn next_turn(&self) -> (String, [String; 3]) {
        let (id, number, output) = (self.id, self.turns.get(), self.output.get());
        self.turns.set(number + 1);
        let time = rfc3339::format(Environment::real().now().wall_ms);
        let row = format!(
            r#"{{"type":"assistant","timestamp":"{time}","message":{{"id":"msg_{id}_{number}","model":"claude-opus-5-5","usage":{{{INPUT},"output_tokens":{output}}}}}}}"#
        );
        let call =
            format!(r#""tool_name":"Read","tool_input":{{"file_path":"/f{number}"}},"tool_use_id":"{id}-t{number}""#);
        let events = [
            self.input("PreToolUse", &call),
            self.input("PostToolUse", &format!(r#"{call},"tool_response":{{"text":"{number}"}}"#)),
            self.input("PostToolBatch", &format!(r#""tool_calls":[{{{call}}}]"#)),
        ];
        (row + "\n", events)
    }

    pub fn end(&self) {
        self.event("SessionEnd", r#""reason":"other""#);
    }
}
