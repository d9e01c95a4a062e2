//! Records of the log, made from findings.

use crate::domain::finding_source::FindingSource;
use crate::domain::incomplete::is_of_end;
use crate::domain::limit::Limit;
use crate::domain::mode::Mode;
use crate::domain::record::{Record, RecordKind};
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::verdict::Finding;
use crate::engine::session_state::SessionState;

/// Writes a record about a finding on a run.
pub fn write(state: &mut SessionState, id: &str, kind: RecordKind, finding: &Finding) {
    let record = about(state, id, kind, finding);
    state.effects.log_records.push(record);
}

/// Gives the last record a reason.
pub fn give_reason(state: &mut SessionState, reason: &str) {
    if let Some(record) = state.effects.log_records.last_mut() {
        record.reason = Some(reason.to_owned());
    }
}

fn about(state: &SessionState, id: &str, kind: RecordKind, finding: &Finding) -> Record {
    let run = state.run(id).cloned().unwrap_or_default();
    let number = |value| finding.limit().map(|limit| limit.configured(value));
    // The attempt that was refused counts: 26 of 25.
    let refused = u64::from(kind == RecordKind::AgentFailed && finding.limit().is_some_and(Limit::counts_calls));
    let paused = kind == RecordKind::AgentPaused;
    Record {
        error: sentence(kind, finding),
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        turns: run.counters.turns + refused,
        max_turns: run.limits.limits.iter().find(|rule| rule.limit.counts_calls()).map(|rule| rule.cap),
        elapsed_ms: run.counters.duration_ms,
        accumulated_cost_usd: Amount(run.counters.spent.cost.0).usd(),
        status: paused.then(|| "paused".to_owned()),
        reason: paused.then(|| "Execution limit exceeded".to_owned()),
        resume: paused.then(|| format!("fusebox resume {}", run.id)),
        event: Some(kind),
        session: state.session.id.clone(),
        run: run.id,
        limit: finding.source.to_string(),
        scope: finding.scope.as_str().to_owned(),
        action: finding.action.as_str().to_owned(),
        // Of a team the subject has the figures: what this machine may spend is nobody's cap.
        used: number(finding.used).filter(|_| finding.scope != Scope::Team),
        ahead: number(finding.ahead).filter(|_| finding.ahead > 0 && finding.scope != Scope::Team),
        requests_ahead: Some(finding.requests_ahead)
            .filter(|requests| *requests > 0 && finding.ahead > 0 && finding.scope != Scope::Team),
        cap: number(finding.cap).filter(|_| finding.scope != Scope::Team),
        layer: finding.layer.as_str().to_owned(),
        stop_reason: finding.stop_reason().into_owned(),
        subject: finding.subject.clone(),
        frees: finding.frees.to_string(),
        percent: (finding.percent < 100).then_some(finding.percent),
        mode: if state.session.mode == Mode::Observe { "observe".to_owned() } else { String::new() },
        ..Record::default()
    }
}

fn sentence(kind: RecordKind, finding: &Finding) -> String {
    match kind {
        _ if is_of_end(finding) => format!("Agent ended incomplete: {}", finding.subject),
        _ if finding.source == FindingSource::ExplicitStop => {
            format!("Agent was stopped: {} asked for its end", finding.subject)
        }
        RecordKind::LimitGranted => format!("{} was raised by a person", finding.source),
        RecordKind::IncreaseAsked => format!("A person is asked for more of {}", finding.source),
        RecordKind::IncreaseDeclined => format!("The dialog about {} grants nothing", finding.source),
        RecordKind::IncreaseWithdrawn => format!("The question about {} was withdrawn by a stop", finding.source),
        RecordKind::AgentWarning if finding.percent < 100 => {
            format!("Agent reached {} % of {}", finding.percent, finding.source)
        }
        _ if finding.scope == Scope::Team => format!("Agent was stopped: {}", finding.subject),
        _ => format!("Agent exceeded {} limit", finding.source),
    }
}
