//! A spawn that is under way, and what is sure to start agents.

use serde::{Deserialize, Serialize};

use crate::domain::limit_meter::{ComingStep, Stage};
use crate::domain::moment::Moment;
use crate::domain::stored::serde_default::is_default;

/// A spawn that was admitted and whose agent is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The Agent call.
    pub call: String,
    /// The run that made it.
    pub run: String,
    /// How deep that is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depth: u32,
    /// The type of agent that it asks for; empty where it is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub agent_type: String,
    /// The name given to the agent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: Option<String>,
    /// The limits that its prompt asks for. Earlier versions kept the prompt, in which they are found just as well.
    #[serde(default, alias = "prompt", skip_serializing_if = "is_default")]
    pub limits: Option<String>,
    /// The number of the task that its prompt names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task: Option<String>,
    /// The agent that a message wakes, where it is no new one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wakes: Option<String>,
    /// When it was admitted: it does not count for ever.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Moment,
}

impl ComingStep<'_> {
    /// Returns how many agents the step is sure to start: a workflow at least one, and more than its call tells.
    pub fn starts(&self) -> Option<u64> {
        let is_start = match self.stage {
            Stage::Spawn => true,
            Stage::Call => self.call.is_some_and(|call| call.starts_agent),
            _ => false,
        };
        if is_start { Some(1) } else { self.arrives.then_some(0) }
    }
}
