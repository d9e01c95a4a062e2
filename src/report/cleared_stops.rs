//! Stops in reports. A stop that a person has cleared is shown until the run has gone on.

use crate::domain::finding_source::FindingSource;
use crate::domain::layer::Layer;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Status};
use crate::engine::lifecycle;
use crate::report::rows::Logged;

/// A stop whose order was cleared.
#[derive(Clone, Debug)]
pub struct ClearedStop {
    /// What the run was.
    pub status: Status,
    /// Why it was stopped, for machines.
    pub stop_reason: String,
    /// Why, in a sentence.
    pub error: String,
}

/// Whether the last that is known of a run is that a person has let it go on after a stop.
pub fn may_go_on(run: &Run, records: &[Logged]) -> bool {
    // A session's order is written down at its main run, also where that had ended by itself.
    let is_of_session = |logged: &Logged| {
        let source = FindingSource::parse(&logged.record.limit);
        let ordered = matches!(source, FindingSource::ExplicitStop | FindingSource::ExplicitPause);
        ordered && logged.record.scope == Scope::Session.as_str()
    };
    let own: Vec<&Logged> =
        records.iter().filter(|logged| logged.record.run == run.id && !is_of_session(logged)).collect();
    let stops = |logged: &&&Logged| {
        let event = logged.record.event;
        matches!(event, Some(RecordKind::AgentFailed | RecordKind::AgentPaused | RecordKind::AgentStopped))
    };
    let lifts =
        |logged: &&&Logged| matches!(logged.record.event, Some(RecordKind::LimitGranted | RecordKind::AgentResumed));
    let Some(stop) = own.iter().rposition(|logged| stops(&logged)) else { return false };
    let mut lifted = own[stop..].iter().filter(lifts).peekable();
    // What it has done after one of them was going on.
    lifted.peek().is_some() && lifted.all(|logged| logged.at_ms >= run.last.wall_ms)
}

/// Returns the last stop of a run that is at rest since that was lifted.
pub fn stop(run: &Run, records: &[Logged]) -> Option<ClearedStop> {
    if (run.status != Status::Completed && !run.resumed) || run.order.is_some() {
        return None;
    }
    records.iter().rev().filter(|logged| logged.record.run == run.id).find_map(|logged| {
        let status = match logged.record.event {
            Some(RecordKind::AgentFailed) => Status::Failed,
            Some(RecordKind::AgentStopped) => Status::Stopped,
            Some(RecordKind::AgentPaused) => Status::Paused,
            _ => return None,
        };
        let record = &logged.record;
        let has_sentence = record.limit.is_empty() || record.scope == Scope::Team.as_str();
        let error = if has_sentence { record.error.clone() } else { lifecycle::exceeded(&record.limit) };
        Some(ClearedStop { status, stop_reason: record.stop_reason.clone(), error })
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
    let is_stopped = is_stopped && !run.has_ended_by_itself();
    run.partial || !run.missing.is_empty() || is_stopped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::moment::Moment;
    use crate::domain::record::Record;

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

    /// Whether a run of which this was written down, each at its moment, may go on, where its last event was at `last`.
    fn goes_on(records: &[(RecordKind, i64)], last: i64) -> bool {
        let run = Run { id: "a1".to_owned(), last: Moment { wall_ms: last, ..Moment::default() }, ..Run::default() };
        let logged = |(number, (kind, at_ms)): (usize, &(RecordKind, i64))| Logged {
            number: number as i64,
            at_ms: *at_ms,
            record: Record { run: run.id.clone(), event: Some(*kind), ..Record::default() },
        };
        let records: Vec<Logged> = records.iter().enumerate().map(logged).collect();
        may_go_on(&run, &records)
    }

    #[test]
    fn a_run_may_go_on_where_it_was_stopped_and_has_done_nothing_since_it_was_let() {
        let (stop, grant, resume) = (RecordKind::AgentFailed, RecordKind::LimitGranted, RecordKind::AgentResumed);
        assert!(goes_on(&[(stop, 1), (grant, 3)], 2));
        assert!(goes_on(&[(stop, 1), (grant, 3), (resume, 4)], 2));
        assert!(goes_on(&[(grant, 0), (stop, 1), (grant, 3)], 2));
        assert!(!goes_on(&[(stop, 1)], 2), "nobody has let it");
        assert!(!goes_on(&[(grant, 1), (grant, 3)], 2), "nothing has stopped it");
        assert!(!goes_on(&[(stop, 1), (grant, 3), (grant, 7)], 6), "it has gone on, and was given more later");
        assert!(!goes_on(&[(stop, 1), (grant, 3), (stop, 5)], 6), "it was stopped anew");
    }
}
