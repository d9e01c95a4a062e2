//! Hooks that ask the model: no transcript shows their requests.

use serde::{Deserialize, Serialize};

use crate::domain::agent_type::is_same;
use crate::domain::event::{Agent, Call};
use crate::domain::hook_rule;
use crate::domain::matcher;
use crate::domain::spend::meters::Spend;
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
    /// The model that it asks; empty where that is the session's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The permission rule that a call has to meet (`if`); empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// How many there are of the kind.
    pub count: u64,
    /// Whose events they run at.
    #[serde(rename = "of", default, skip_serializing_if = "is_default")]
    pub holder: Holder,
}

impl ModelHook {
    /// Whether it runs at an event of an agent's, by the event's name on the wire.
    pub fn runs_at(&self, name: &str, agent: &Agent) -> bool {
        match (&self.holder, agent) {
            // A hook that is an agent has no hooks.
            (_, Agent::Sub { id, .. }) if is_hook_agent(id) => false,
            (Holder::All, _) | (Holder::Main, Agent::Main) => self.event == name,
            // The end of its work is a subagent's, however its type calls it.
            (Holder::Type(own), Agent::Sub { agent_type, .. }) if is_same(own, agent_type) => {
                self.event == name || self.event == "Stop" && name == "SubagentStop"
            }
            _ => false,
        }
    }

    /// Whether it is for a tool or an agent's type.
    pub fn is_for(&self, subject: &str) -> bool {
        let is_before = || subject == MONITOR && ASKED_BEFORE.contains(&&*self.event);
        matcher::is_for(&self.matcher, subject) || is_before() && matcher::is_for(&self.matcher, BASH)
    }

    /// Whether it may run at a call.
    pub fn is_for_call(&self, call: &Call) -> bool {
        self.is_for(&call.tool) && hook_rule::may_meet(&self.rule, &call.tool, &call.command)
    }

    /// Returns how often those of its kind ask the model at one event at the most.
    pub fn most_requests(&self) -> u64 {
        self.count.saturating_mul(if self.is_agent { MOST_OF_AGENT } else { 1 })
    }
}

/// The tool at which the client runs Bash's hooks, too, and the events at which it does: both run a command.
const MONITOR: &str = "Monitor";
const BASH: &str = "Bash";
const ASKED_BEFORE: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// How often a hook that is an agent asks the model at the most without a call that hooks are told of: one that answers in words is asked
/// once more.
const MOST_OF_AGENT: u64 = 2;

/// Returns how often hooks may ask the model at one event.
pub fn most_requests<'a>(hooks: impl IntoIterator<Item = &'a ModelHook>) -> u64 {
    hooks.into_iter().fold(0, |sum: u64, hook| sum.saturating_add(hook.most_requests()))
}

/// Returns what hooks may spend at one event, where each request is taken for so much.
pub fn most_spend<'a>(hooks: impl IntoIterator<Item = &'a ModelHook>, each: impl Fn(&ModelHook) -> Spend) -> Spend {
    hooks.into_iter().map(|hook| each(hook) * hook.most_requests()).sum()
}

/// The most names in matchers of which it is looked for the one with the dearest hooks.
const MOST_NAMES: usize = 64;

/// Returns what hooks may spend at the most about one tool or agent's type, whichever it is: all that have patterns may be for the same.
pub fn most_spend_of_one(hooks: &[&ModelHook], each: impl Fn(&ModelHook) -> Spend) -> Spend {
    let lists = hooks.iter().filter(|hook| matcher::is_list(&hook.matcher));
    let names = lists.flat_map(|hook| matcher::names(&hook.matcher)).chain([MONITOR]);
    let names: Vec<&str> = names.take(MOST_NAMES + 1).collect();
    let most =
        |is_for: &dyn Fn(&ModelHook) -> bool| most_spend(hooks.iter().copied().filter(|hook| is_for(hook)), &each);
    match names.len() > MOST_NAMES {
        true => most(&|_| true),
        false => {
            let of_patterns = most(&|hook| !matcher::is_list(&hook.matcher) || hook.is_for(""));
            names.iter().map(|name| most(&|hook| hook.is_for(name))).fold(of_patterns, Spend::max)
        }
    }
}

/// The beginning of the ids of agents that are hooks. The client writes no transcript for them.
const HOOK_AGENT: &str = "hook-agent-";

/// Whether a run is a hook of type `agent`.
pub fn is_hook_agent(run: &str) -> bool {
    run.starts_with(HOOK_AGENT)
}
