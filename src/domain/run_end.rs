//! The end of a subagent's run, or of the main agent's, that its parent or the person has yet to be told of.

use serde::{Deserialize, Serialize};

use crate::domain::verdict::Finding;

/// How a run was stopped or paused, or that its work is incomplete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The run.
    pub run: String,
    /// Its agent's type.
    pub agent_type: String,
    /// Why it ended.
    pub finding: Finding,
    /// The run above it whose stop has stopped it.
    pub stopped_with: Option<String>,
    /// Whether its work is only paused and can go on.
    pub paused: bool,
    /// Why, in the words of the person or tool that asked for it.
    pub reason: Option<String>,
}
