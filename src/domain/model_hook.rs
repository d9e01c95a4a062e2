//! Hooks that ask the model: no transcript shows their requests.

use serde::{Deserialize, Serialize};

use crate::domain::agent_type::is_same;
use crate::domain::event::Agent;
use crate::domain::stored::serde_default::is_default;

/// Whose events hooks run at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// Everybody's: those of settings and plugins.
    #[default]
    All,
    /// The main agent's: those of a skill that was called, by whichever agent.
    Main,
    /// Those of the agents of one type, from its frontmatter.
    Type(String),
}

/// Hooks that ask the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelHook {
    /// The event's name on the wire.
    pub event: String,
    /// The tools or agent types that it is for, as the settings have them.
    pub matcher: String,
    /// Whether it is an agent, whose tool calls reach hooks under an id of its own.
    pub is_agent: bool,
    /// How many there are of the kind.
    pub count: u64,
    /// Whose events they run at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub of: Holder,
}

impl ModelHook {
    /// Whether it runs at an event of an agent's, by the event's name on the wire.
    pub fn runs_at(&self, name: &str, agent: &Agent) -> bool {
        match (&self.of, agent) {
            // A hook that is an agent has no hooks.
            (_, Agent::Sub { id, .. }) if is_hook_agent(id) => false,
            (Holder::All, _) | (Holder::Main, Agent::Main) => self.event == name,
            // The end of its work is a subagent's, however its type calls it.
            (Holder::Type(of), Agent::Sub { agent_type, .. }) if is_same(of, agent_type) => {
                self.event == name || self.event == "Stop" && name == "SubagentStop"
            }
            _ => false,
        }
    }

    /// Whether it is for a tool or an agent's type. A pattern that is not a plain list is taken to be for all.
    pub fn is_for(&self, subject: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-|".contains(&byte);
        let is_list = !self.matcher.is_empty() && self.matcher.bytes().all(plain);
        !is_list || self.matcher.split('|').any(|name| name == subject)
    }
}

/// How often a hook that is an agent asks the model at the most without a call that hooks are told of: one that answers in words is asked
/// once more.
const MOST_OF_AGENT: u64 = 2;

/// Returns how often hooks may ask the model at one event.
pub fn most_requests<'a>(hooks: impl IntoIterator<Item = &'a ModelHook>) -> u64 {
    let each = |hook: &ModelHook| hook.count.saturating_mul(if hook.is_agent { MOST_OF_AGENT } else { 1 });
    hooks.into_iter().fold(0, |sum: u64, hook| sum.saturating_add(each(hook)))
}

/// The most names in matchers of which it is looked for the one with the most hooks.
const MOST_NAMES: usize = 64;

/// Returns how often hooks may ask the model at the most about one tool or agent's type, whichever it is.
pub fn most_requests_of_one(hooks: &[&ModelHook]) -> u64 {
    let names: Vec<&str> = hooks.iter().flat_map(|hook| hook.matcher.split('|')).take(MOST_NAMES + 1).collect();
    let of = |name: &&str| most_requests(hooks.iter().copied().filter(|hook| hook.is_for(name)));
    match names.len() > MOST_NAMES {
        true => most_requests(hooks.iter().copied()),
        false => names.iter().map(of).max().unwrap_or(0),
    }
}

/// The beginning of the ids of agents that are hooks. The client writes no transcript for them.
const HOOK_AGENT: &str = "hook-agent-";

/// Whether a run is a hook of type `agent`.
pub fn is_hook_agent(run: &str) -> bool {
    run.starts_with(HOOK_AGENT)
}
