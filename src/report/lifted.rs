//! Stops in reports: those that a person has lifted stay until the run has gone on, and what was stopped is partial.

use crate::domain::charge::RecordKind;
use crate::domain::finding_source::FindingSource;
use crate::domain::policy::{Layer, Scope};
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
    // A session's order is written down at its main run, also where that had ended by itself.
    let is_own = |logged: &&Logged| {
        let ordered = matches!(
            FindingSource::parse(&logged.record.limit),
            FindingSource::ExplicitStop | FindingSource::ExplicitPause
        );
        logged.record.run == run.id && !(ordered && logged.record.scope == Scope::Session.as_str())
    };
    let of_run = || records.iter().filter(is_own).filter_map(lifts);
    of_run().next() == Some(false) && of_run().next_back() == Some(true)
}

/// Returns the last stop of a run that is at rest since that was lifted.
pub fn stop(run: &Run, records: &[Logged]) -> Option<LiftedStop> {
    if (run.status != Status::Completed && !run.resumed) || run.order.is_some() {
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

/// Returns why a run was stopped, in words. A person's order has the name that a tool's has, too.
pub fn reason(name: &str, run: &Run, records: &[Logged]) -> String {
    let is_of_rule = |logged: &&Logged| logged.record.layer != Layer::Grant.as_str() && logged.record.limit == name;
    let by_rule = records.iter().filter(|logged| logged.record.run == run.id).any(|logged| is_of_rule(&logged));
    match FindingSource::parse(name) {
        FindingSource::ExplicitStop | FindingSource::ExplicitPause if !by_rule => "by a person".to_owned(),
        _ => name.replace('_', " "),
    }
}

/// Whether a run's work is partial: it says so, it lacked something at its end, or it was stopped.
pub fn is_partial(run: &Run) -> bool {
    let is_stopped = matches!(run.status, Status::Failed | Status::Stopped | Status::Paused);
    run.partial || !run.missing.is_empty() || is_stopped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::charge::Record;

    #[test]
    fn a_persons_stop_is_not_called_by_the_name_of_a_tools() {
        let run = Run { id: "a1".to_owned(), ..Run::default() };
        for (name, layer, said) in [
            ("explicit_stop", Some(Layer::Grant), "by a person"),
            ("explicit_stop", None, "by a person"),
            ("explicit_stop", Some(Layer::Project), "explicit stop"),
            ("explicit_pause", Some(Layer::Grant), "by a person"),
            ("turn_limit_reached", None, "turn limit reached"),
        ] {
            let record = |layer: Layer| Record {
                run: run.id.clone(),
                limit: name.to_owned(),
                layer: layer.as_str().to_owned(),
                ..Record::default()
            };
            let records: Vec<Logged> =
                layer.map(|layer| Logged { number: 1, at_ms: 0, record: record(layer) }).into_iter().collect();
            assert_eq!(reason(name, &run, &records), said, "{name} {layer:?}");
        }
    }
}
