//! How an agent's work ends: sent back while something is missing, let go all the same, or ended by a tool that asks for it.

use crate::domain::action::Action;
use crate::domain::event::{Call, CallOutcome, Event, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::incomplete::{finding, is_of_end};
use crate::domain::limit_set::{ExplicitStop, LimitSet};
use crate::domain::mode::Mode;
use crate::domain::record::RecordKind;
use crate::domain::refusal::Refusal;
use crate::domain::session::{Order, Run};
use crate::domain::text::pattern;
use crate::domain::verdict::{Finding, Verdict};
use crate::engine::lifecycle;
use crate::engine::log_records;
use crate::engine::session_state::SessionState;

/// Begins a new stretch of a run that had ended: its next end is looked at anew.
pub fn begin(run: &mut Run) {
    run.sent_back = 0;
    run.missing.clear();
    run.partial = false;
    let ends = [FindingSource::Checkpoints, FindingSource::Completion];
    run.warned.retain(|(name, _)| ends.iter().all(|source| *source != **name));
}

/// Ends of one run that come so soon after each other are one end, told by a hook that is registered twice.
const ONE_END_MS: u64 = 300;

/// Takes back that an agent was sent back where the same end is told once more, so that the answer is the same.
pub fn told_twice(state: &mut SessionState, id: &str, event: &Event) {
    let Some(ending) = event.ending() else { return };
    if let Some(run) = state.run_mut(id).filter(|run| !ending.again && event.at.since(run.last) < ONE_END_MS) {
        run.sent_back = run.sent_back.saturating_sub(1);
    }
}

/// Tells for what an agent is sent back at its end, or what is missing where it is let go all the same.
///
/// One that says itself that its work is partial may end: that is what it was asked to do where it gets no further.
pub fn weigh(run: &Run, event: &Event, mode: Mode, missing: &[Finding]) -> (Vec<String>, Vec<Finding>) {
    let Some(ending) = event.ending().filter(|_| run.order.is_none()) else { return Default::default() };
    let left = missing.iter().any(|finding| run.sent_back < retries(&run.limits, finding));
    if left && mode == Mode::Enforce && !ending.partial {
        let words = |found: &Finding| format!("{} ({}, set by {})", found.subject, found.source, found.layer.owner());
        return (missing.iter().map(words).collect(), Vec::new());
    }
    (Vec::new(), missing.to_vec())
}

fn retries(rules: &LimitSet, finding: &Finding) -> u32 {
    let retries = match finding.source {
        FindingSource::Checkpoints => rules.checkpoints.as_ref().map(|rule| rule.retries),
        _ => rules.completion.as_ref().map(|rule| rule.retries),
    };
    retries.unwrap_or(0)
}

/// Takes the end of an agent's turn into its run: one that is sent back goes on.
pub fn close(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let (Some(ending), Some(run)) = (event.ending(), state.run_mut(id)) else { return };
    run.partial = ending.partial;
    if matches!(verdict.refusal, Some(Refusal::Missing { .. })) {
        run.sent_back += 1;
        lifecycle::go_on(run, event.at);
        return;
    }
    let missing = verdict.findings.iter().filter(|finding| is_of_end(finding));
    run.missing = missing.map(|finding| finding.subject.clone()).collect();
}

/// Ends a run where one of its tools asks for that: by its name, or by a line of its result.
pub fn ask(state: &mut SessionState, id: &str, event: &Event) {
    let EventKind::ToolEnded(call, outcome) = &event.kind else { return };
    let Some(run) = state.run(id).filter(|run| run.order.is_none()) else { return };
    let Some(finding) = run.limits.explicit_stop.as_ref().and_then(|rule| asked(rule, call, outcome)) else { return };
    let observed = state.session.mode == Mode::Observe;
    let reason = outcome.stop_marker.clone().filter(|reason| !reason.is_empty());
    let order = Order::halted(finding.clone(), reason.clone());
    if let Some(run) = state.run_mut(id).filter(|_| !observed) {
        lifecycle::halt_below(run, order, id);
    }
    let kind = if observed { RecordKind::AgentWarning } else { RecordKind::AgentStopped };
    log_records::write(state, id, kind, &finding);
    if let Some(record) = state.effects.log_records.last_mut() {
        record.reason = reason;
    }
}

fn asked(rule: &ExplicitStop, call: &Call, outcome: &CallOutcome) -> Option<Finding> {
    let by_name = !outcome.failed && rule.tools.iter().any(|like| pattern::matches(like, &call.tool));
    let who = match (&outcome.stop_marker, by_name) {
        (Some(_), _) => format!("a result of the tool {}", call.tool),
        (None, true) => format!("the tool {}", call.tool),
        (None, false) => return None,
    };
    Some(Finding { action: Action::Terminate, ..finding(FindingSource::ExplicitStop, rule.layer, who) })
}
