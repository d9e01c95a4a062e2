//! Stops in reports: those that a person has lifted stay until the run has gone on, and what was stopped is partial.

use crate::domain::charge::RecordKind;
use crate::domain::session::{Run, Status};
use crate::engine::enforce;
use crate::report::rows::Logged;

/// A stop that was lifted.
#[derive(Clone, Debug)]
pub struct LiftedStop {
    /// What the run was.
    pub status: Status,
    /// Why it was stopped, for machines.
    pub stop_reason: String,
    /// Why, in a sentence.
    pub error: String,
}

/// Whether the last that is known of a run is that a person has let it go on after a stop.
pub fn may_go_on(run: &Run, records: &[Logged]) -> bool {
    let lifts = |logged: &Logged| match logged.record.event {
        Some(RecordKind::AgentFailed | RecordKind::AgentPaused | RecordKind::AgentStopped) => Some(false),
        Some(RecordKind::LimitGranted | RecordKind::AgentResumed) => Some(logged.at_ms >= run.last.wall_ms),
        _ => None,
    };
    let of_run = || records.iter().filter(|logged| logged.record.run == run.id).filter_map(lifts);
    of_run().next() == Some(false) && of_run().next_back() == Some(true)
}

/// Returns the last stop of a run that is at rest since that was lifted.
pub fn stop(run: &Run, records: &[Logged]) -> Option<LiftedStop> {
    if run.status != Status::Completed || run.order.is_some() {
        return None;
    }
    records.iter().rev().filter(|logged| logged.record.run == run.id).find_map(|logged| {
        let status = match logged.record.event {
            Some(RecordKind::AgentFailed) => Status::Failed,
            Some(RecordKind::AgentStopped) => Status::Stopped,
            _ => return None,
        };
        let record = &logged.record;
        let error = if record.limit.is_empty() { record.error.clone() } else { enforce::exceeded(&record.limit) };
        Some(LiftedStop { status, stop_reason: record.stop_reason.clone(), error })
    })
}

/// Whether a run's work is partial: it says so, it lacked something at its end, or it was stopped.
pub fn is_partial(run: &Run) -> bool {
    let is_stopped = matches!(run.status, Status::Failed | Status::Stopped | Status::Paused);
    run.partial || !run.missing.is_empty() || is_stopped
}
