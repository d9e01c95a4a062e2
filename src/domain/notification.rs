//! What the model of a parent is told about its subagents.

use serde::{Deserialize, Serialize};

use crate::domain::scope::Scope;
use crate::domain::verdict::Finding;

/// Tells a parent that its subagent was stopped from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParentNotification {
    /// Its run.
    pub run: String,
    /// Its type.
    pub agent_type: String,
    /// Why.
    pub finding: Finding,
    /// The run above it whose stop has stopped it.
    pub stopped_with: Option<String>,
    /// The work was paused and can go on.
    pub paused: bool,
    /// Why, in the words of whoever asked for it.
    pub reason: Option<String>,
}

/// A cap that a spawn asked for and that was lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClampedCap {
    /// The spawned run.
    pub run: String,
    /// Which limit.
    pub limit: String,
    /// What the spawn asked for, in the limit's base unit.
    pub asked: u64,
    /// What it got.
    pub got: u64,
    /// Whose remaining budget that is: the parent run's, or the session's.
    pub of: Scope,
}
