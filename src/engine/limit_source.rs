//! Where runs take their rules from.

use crate::domain::limit_set::LimitSet;

/// Gives the rules for runs, from the policy pinned when the client started.
pub trait LimitSource {
    /// Returns the rules of main runs.
    fn main(&self) -> LimitSet;
    /// Returns the rules of a subagent's run; `spawn` is the prompt that started it, where it may hold limits.
    fn agent(&self, agent_type: &str, spawn: Option<&str>) -> LimitSet;
    /// Returns the limits that a spawn's prompt asks for, in a form that [`LimitSource::agent`] takes again.
    fn limits_in(&self, _prompt: &str) -> Option<String> {
        None
    }
    /// Returns the text about discipline for the prompt of an agent of this type, where one is configured.
    fn discipline(&self, _agent_type: &str) -> Option<String> {
        None
    }
}
