//! What an event has come to, as far as an answer tells of it.

use crate::domain::clamped_cap::ClampedCap;
use crate::domain::run_end::RunEnd;
use crate::domain::session::{Run, Session};
use crate::domain::usage::ScopeUsage;
use crate::domain::verdict::Finding;

/// The state after an event.
#[derive(Clone, Debug)]
pub struct EventOutcome<'a> {
    /// The session.
    pub session: &'a Session,
    /// The run that the event belongs to.
    pub run: Option<&'a Run>,
    /// The model of the run's next request.
    pub model: &'a str,
    /// The ends of agents that it has started, which the run is to be told of.
    pub ends_for_parents: &'a [RunEnd],
    /// The ends that the person is to be told of, each with its run.
    pub ends_for_person: Vec<(&'a RunEnd, &'a Run)>,
    /// The subagents of which the main agent is to be told that they may go on, with their types.
    pub let_go_on: &'a [(String, String)],
    /// What was taken of the caps that spawns asked for.
    pub clamped_caps: &'a [ClampedCap],
    /// What would block the main agent's next prompt; empty where the answer does not tell of its stop.
    pub blocks_next: Vec<Finding>,
    /// What every scope has used; empty where the answer does not tell it.
    pub used: Vec<ScopeUsage<'a>>,
}
