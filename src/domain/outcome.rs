//! What an event has come to, as far as an answer tells of it.

use crate::domain::notification::{ClampedCap, ParentNotification};
use crate::domain::session::{Run, Session};
use crate::domain::usage::ScopeUsage;

/// The state after an event.
#[derive(Clone, Debug)]
pub struct EventOutcome<'a> {
    /// The session.
    pub session: &'a Session,
    /// The run that the event belongs to.
    pub run: Option<&'a Run>,
    /// The model of the run's next request.
    pub model: &'a str,
    /// What the run is to be told of agents that it has started.
    pub parent_notifications: &'a [ParentNotification],
    /// What the person is to be told of agents that were stopped, with those agents.
    pub stopped_agents: Vec<(&'a ParentNotification, &'a Run)>,
    /// The subagents of which the main agent is to be told that they may go on, with their types.
    pub let_go_on: &'a [(String, String)],
    /// What was taken of the caps that spawns asked for.
    pub clamped_caps: &'a [ClampedCap],
    /// What every scope has used; empty where the answer does not tell it.
    pub used: Vec<ScopeUsage<'a>>,
}
