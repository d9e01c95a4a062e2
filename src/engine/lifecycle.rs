//! How a run goes on and ends.

use std::fmt::Display;

use crate::domain::action::Action;
use crate::domain::event::{Call, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::moment::Moment;
use crate::domain::session::{Order, Phase, Run, Status};
use crate::domain::spawn::Spawn;
use crate::domain::verdict::Finding;
use crate::engine::agents::run_ends;
use crate::engine::session_state::SessionState;

/// The machine-readable reason of a run whose client has died.
pub const ORPHANED: &str = "orphaned";

/// Hands the order of a stopped run, `by`, down to a run below it.
pub fn halt_below(run: &mut Run, order: Order, by: &str) {
    if run.order.is_none() {
        let own = by == run.id || order.finding.ends_session();
        run.stopped_with = (!own).then(|| by.to_owned());
        run.status = stopped_status(order.finding.action, &order.finding.source);
        run.stop_reason = Some(order.finding.stop_reason().into_owned());
        run.error = order.reason.clone().or_else(|| run.error.take());
        run.order = Some(Order::halted(order.finding, order.reason));
    }
}

/// Returns the status of a run that an order ended.
pub fn stopped_status(action: Action, source: &FindingSource) -> Status {
    match (action, source) {
        (Action::Pause, _) => Status::Paused,
        (_, FindingSource::ExplicitStop) => Status::Stopped,
        _ => Status::Failed,
    }
}

/// Returns the error sentence of a run that a finding ends.
pub fn error_of(finding: &Finding) -> String {
    if finding.waits_for_store() { finding.subject.clone() } else { exceeded(&finding.source) }
}

/// Returns the error sentence of a run that a limit ends.
pub fn exceeded(limit: impl Display) -> String {
    format!("Execution limit exceeded: [{limit}]")
}

/// Whether an event shows the main agent at work, so that it has a run.
pub fn works(kind: &EventKind) -> bool {
    match kind {
        EventKind::ToolRequested(_) | EventKind::ToolEnded(..) => true,
        EventKind::BatchEnded(_) | EventKind::Stopped { .. } => true,
        EventKind::SubagentStarted | EventKind::SubagentEnded(_) => false,
        EventKind::SessionStart { .. } | EventKind::SessionEnded | EventKind::Prompt { .. } => false,
        EventKind::PermissionRequested | EventKind::Compacting => false,
        EventKind::ConfigChanged | EventKind::Other(_) => false,
    }
}

/// Takes note that a subagent has ended, as its parent learns it, which is told of a stop once.
pub fn ended_outside(state: &mut SessionState, id: &str) {
    state.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(id));
    let Some(run) = state.run_mut(id) else { return };
    end(run, Status::Completed);
    run_ends::note_for_parent(state, id);
}

/// Takes note of the agent that a message has woken: the name that it was sent to may have said nothing.
pub fn wakes(state: &mut SessionState, run: &str, call: &Call, id: &str, at: Moment) {
    let at_work = state.run(id).is_some_and(|run| run.status == Status::Running);
    let is_known = state.session.spawns.iter().any(|spawn| spawn.wakes.as_deref() == Some(id));
    if at_work || is_known || state.run(id).is_none() {
        return;
    }
    state.session.spawns.retain(|spawn| spawn.call != call.id);
    let (call, run, wakes) = (call.id.clone(), run.to_owned(), Some(id.to_owned()));
    state.session.spawns.push(Spawn { call, run, wakes, at, ..Spawn::default() });
}

/// Ends a run's stretch; a status that says why it was ended stays.
pub fn end(run: &mut Run, status: Status) {
    run.working = false;
    if run.status == Status::Running {
        run.status = status;
    }
    if let Some(order) = &mut run.order {
        order.phase = Phase::Halted;
    }
}

/// Goes on with a run: its clock runs again.
pub fn go_on(run: &mut Run, at: Moment) {
    if !run.working {
        run.working = true;
        run.resumed = false;
        run.last = at.or_later(run.last);
    }
    if run.order.is_none() {
        run.status = Status::Running;
        run.cut_off = false;
        run.left = false;
    }
    if run.order.is_none() || run.stop_reason.as_deref() == Some(ORPHANED) {
        run.stop_reason = None;
        run.error = None;
    }
}

/// Ends a run whose client has died.
pub fn orphan(run: &mut Run) {
    end(run, Status::Orphaned);
    run.stop_reason = Some(ORPHANED.to_owned());
    run.error = Some("The client died before the agent was done".to_owned());
}

/// Ends a run's stretch. What is reserved for its last response stays until that is charged: it is not on disk yet.
pub fn complete(state: &mut SessionState, id: &str) {
    if let Some(run) = state.run_mut(id) {
        end(run, Status::Completed);
    }
}
