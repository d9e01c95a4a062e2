//! The rules in force: which limit, which cap, which action, and whose rule it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::Limit;

/// What a tripped limit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Tells agent and user once; work goes on.
    Warn,
    /// Asks the user for more; acts as terminate where nobody can answer.
    RequestIncrease,
    /// Stops the run and keeps it until a person resumes it.
    Pause,
    /// Ends the run, after its grace.
    Terminate,
}

/// Every action, from the mildest to the strictest.
pub const ACTIONS: [Action; 4] = [Action::Warn, Action::RequestIncrease, Action::Pause, Action::Terminate];

impl Action {
    /// Returns the name used in configuration, records and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Warn => "warn",
            Action::RequestIncrease => "request_increase",
            Action::Pause => "pause",
            Action::Terminate => "terminate",
        }
    }
}

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One agent at work.
    Run,
    /// All runs of one session.
    Session,
}

impl Scope {
    /// Returns the scope's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Run => "run",
            Scope::Session => "session",
        }
    }
}

/// Where a rule comes from, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Compiled in.
    BuiltIn,
    /// The user's own file or settings.
    User,
    /// The repository's file or settings.
    Project,
    /// The repository's file or settings that are not committed.
    ProjectLocal,
    /// The agent's frontmatter.
    Frontmatter,
    /// The call that spawned the agent.
    Spawn,
    /// The machine's managed file.
    Managed,
    /// A person's `fusebox grant`, `resume` or answer in a dialog.
    Grant,
}

/// Every layer with its name and how a sentence calls it.
pub const LAYERS: [(Layer, &str, &str); 8] = [
    (Layer::BuiltIn, "built-in", "Fusebox's built-in defaults"),
    (Layer::User, "user", "the user's fusebox.json"),
    (Layer::Project, "project", "the project's .claude/fusebox.json"),
    (Layer::ProjectLocal, "project-local", "the project's .claude/fusebox.local.json"),
    (Layer::Frontmatter, "frontmatter", "the agent's frontmatter"),
    (Layer::Spawn, "spawn", "the call that started the agent"),
    (Layer::Managed, "managed", "the managed fusebox.json"),
    (Layer::Grant, "grant", "a person's grant"),
];

impl Layer {
    /// Returns the layer's name.
    pub fn as_str(self) -> &'static str {
        LAYERS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Returns the words a sentence uses for it.
    pub fn owner(self) -> &'static str {
        LAYERS.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One limit in force over one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Which limit.
    pub limit: &'static Limit,
    /// The cap in the limit's base unit (calls, tokens, milliseconds, pico-dollars), grants included.
    pub cap: u64,
    /// What it does when it trips.
    pub action: Action,
    /// Who set the cap.
    pub layer: Layer,
    /// What one increase adds.
    pub increase: u64,
}

/// All rules over one scope, with what surrounds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// The limits, at most one rule for each.
    pub rules: Vec<Rule>,
    /// Model responses that a terminated run may still use to report.
    #[serde(skip_serializing_if = "is_one")]
    pub grace_turns: u32,
    /// Tools that may run in grace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finalize_tools: Option<Vec<String>>,
    /// Per cents of a cap at which it warns early.
    #[serde(skip_serializing_if = "warns_as_usual")]
    pub warn_at: Vec<u8>,
    /// Whether the agent is told what remains after every batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remaining_each_turn: bool,
    /// Whether cache reads count as tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_cache_reads: bool,
}

/// Per cents of a cap at which it warns early unless `warn_at` says else.
const WARN_AT: [u8; 2] = [80, 95];

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn warns_as_usual(warn_at: &[u8]) -> bool {
    *warn_at == WARN_AT
}

/// Tools that may run in grace unless `finalize_tools` says else: those that save or report work.
pub const FINALIZE_TOOLS: [&str; 5] = ["Write", "Edit", "TodoWrite", "TaskUpdate", "SendMessage"];

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            rules: Vec::new(),
            grace_turns: 1,
            finalize_tools: None,
            warn_at: WARN_AT.to_vec(),
            remaining_each_turn: false,
            count_cache_reads: false,
        }
    }
}

impl Rules {
    /// Finds the rule for a limit.
    pub fn get(&self, limit: &Limit) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.limit.key == limit.key)
    }

    /// Raises the cap of a limit by `more`; returns the new cap, or nothing where no rule holds it.
    pub fn grant(&mut self, key: &str, more: u64) -> Option<u64> {
        let rule = self.rules.iter_mut().find(|rule| rule.limit.key == key)?;
        rule.cap = rule.cap.saturating_add(more);
        rule.layer = Layer::Grant;
        Some(rule.cap)
    }

    /// Whether a tool may run in grace.
    pub fn finalizes(&self, tool: &str) -> bool {
        match &self.finalize_tools {
            Some(tools) => tools.iter().any(|name| name == tool),
            None => FINALIZE_TOOLS.contains(&tool),
        }
    }
}

/// Whether Fusebox blocks or only watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Decides and logs everything, blocks nothing.
    Observe,
    /// Blocks.
    #[default]
    Enforce,
}

/// What to answer where Fusebox itself fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// Let the call through.
    #[default]
    Allow,
    /// Refuse it.
    Deny,
}
