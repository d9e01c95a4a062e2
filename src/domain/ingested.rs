//! What is ingested for an event before it is applied: responses, agents, past calls.

use crate::domain::pending_prompt::Answered;
use crate::domain::spend::charge::{Charge, NewCharge};
use crate::domain::verdict::Finding;

/// How a subagent was spawned, by the file that the client keeps beside its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The call that spawned it.
    pub spawn_call: Option<String>,
    /// The agent that spawned it, where that is a subagent.
    pub parent: Option<String>,
    /// Its depth.
    pub depth: u32,
    /// The name for messages to it.
    pub name: Option<String>,
    /// The type that it was spawned as, where the client calls it by its name: a teammate.
    pub spawned_type: Option<String>,
}

/// A subagent whose transcript exists although no hook has announced it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unannounced {
    /// Its id.
    pub id: String,
    /// Its type.
    pub agent_type: String,
    /// Its transcript.
    pub path: String,
    /// How it was spawned.
    pub link: Link,
}

/// What a run did before the state knew it, by its transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// The run.
    pub run: String,
    /// Its calls that have ended.
    pub calls: Vec<String>,
    /// How many calls the session had made before the run.
    pub earlier: u64,
    /// When the run began and was last at work, in milliseconds since 1970.
    pub span_ms: Option<(i64, i64)>,
    /// How many calls of the run, and of the session before it, are of the time before Fusebox was installed.
    pub before: u64,
    /// Whether all of the run's work is.
    pub is_before: bool,
    /// What the session had been charged for the run's responses before it was known whose they are.
    pub charged: Vec<Charge>,
}

/// What is ingested for an event before it is applied.
#[derive(Debug, Default)]
pub struct Ingested {
    /// How long the event was held, in milliseconds: nobody worked.
    pub held_ms: u64,
    /// Whether it was counted before it was held.
    pub is_again: bool,
    /// Responses not charged yet, each with the run whose transcript has it.
    pub charges: Vec<(String, NewCharge)>,
    /// How the acting subagent was spawned.
    pub link: Option<Link>,
    /// Subagents that no hook has announced.
    pub unannounced: Vec<Unannounced>,
    /// What runs did before the state knew them.
    pub recalled: Vec<Recalled>,
    /// What is missing at the end of the agent's work, by the rules that say so.
    pub missing: Vec<Finding>,
    /// Calls whose dialogs are answered, with who answered them.
    pub answered: Vec<Answered>,
}
