//! The script of a story: one event a line, written so that a reader can follow.
//!
//! Times are in seconds. `who` is `main`, or an agent as `id:type`. A `turn` is a whole model response: its calls ask, end
//! after a second and make a batch, as far as the answers let them. Output tokens cost 0.02 USD a thousand.

use serde::Deserialize;
use serde_json::Value;

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// When, in seconds.
    pub at: f64,
    /// Who acts.
    #[serde(default = "main")]
    pub who: String,
    /// What happens.
    pub does: Does,
    /// The ids of the calls, or the id of the prompt or person's target.
    #[serde(default)]
    pub id: String,
    /// The tool that is called.
    #[serde(default = "bash")]
    pub tool: String,
    /// Its input.
    #[serde(default)]
    pub input: Value,
    /// What it responds.
    #[serde(default)]
    pub response: Value,
    /// The client's measure of a call, in seconds.
    pub took: Option<f64>,
    /// Output tokens of the response.
    #[serde(default = "hundred")]
    pub out: u64,
    /// Tokens it read from the cache.
    #[serde(default)]
    pub reads: u64,
    /// The model that answers.
    #[serde(default = "opus")]
    pub model: String,
    /// Whether the calls of a turn fail.
    #[serde(default)]
    pub fails: bool,
    /// A prompt's text, or an event's name.
    #[serde(default)]
    pub text: String,
    /// The call that spawned the agent that starts, or that a notification is about.
    #[serde(default)]
    pub by: String,
    /// How much of the plan's windows is used, in per cent.
    #[serde(default)]
    pub used: u64,
    /// In how many seconds they begin anew.
    #[serde(default)]
    pub lasts: i64,
    /// How deep the agent is that starts.
    #[serde(default = "one")]
    pub depth: u32,
    /// The agent that spawned it, or the task that a notification is about.
    #[serde(default)]
    pub of: String,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    /// A session starts.
    Open,
    /// A person prompts.
    Prompt,
    /// The client tells that a background task ended.
    Notify,
    /// A model response with its calls, as far as they are let.
    Turn,
    /// A call asks to run.
    Call,
    /// A call ends.
    End,
    /// A call fails.
    Fail,
    /// All calls of a response have ended.
    Batch,
    /// A subagent starts.
    Start,
    /// The agent ends its turn.
    Done,
    /// The session ends.
    Close,
    /// An event that has a name of its own.
    Event,
    /// Nobody is there to answer from here on; stands first.
    Unattended,
    /// A person says No to every dialog from here on.
    Declines,
    /// A person resumes a run.
    Resume,
    /// The client tells of the user's plan: `used` per cent of the window of five hours, and of seven days, both for `lasts` seconds.
    Plan,
    /// From here on the rules of `session` are those of a session whose agent has started this one's client.
    Below,
}

fn main() -> String {
    "main".to_owned()
}

fn bash() -> String {
    "Bash".to_owned()
}

fn opus() -> String {
    "claude-opus-5-5".to_owned()
}

fn hundred() -> u64 {
    100
}

fn one() -> u32 {
    1
}

/// Reads a script; lines that begin with `//` say what is going on.
pub fn read(text: &str) -> Vec<Line> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
    lines.map(|line| serde_json::from_str(line).map_err(|cause| format!("{cause}: {line}")).unwrap()).collect()
}

impl Line {
    /// Returns the agent's id and type; nothing for the main agent.
    pub fn agent(&self) -> Option<(&str, &str)> {
        self.who.split_once(':')
    }

    /// Returns the calls it is about.
    pub fn calls(&self) -> Vec<&str> {
        self.id.split_whitespace().collect()
    }

    /// Returns what a call's batch says of its result: where the script says nothing, one that no other call has.
    pub fn result(&self, id: &str) -> Value {
        match &self.response {
            Value::Null => serde_json::json!({"stdout": id}),
            response => response.clone(),
        }
    }

    /// Returns the call's input: for a shell command a short one.
    pub fn call_input(&self) -> Value {
        match &self.input {
            Value::Null if self.tool == "Bash" => serde_json::json!({"command": "make test"}),
            Value::Null => serde_json::json!({}),
            input => input.clone(),
        }
    }
}
