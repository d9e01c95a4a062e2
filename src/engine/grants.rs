//! More of a limit: caps that are raised.

use crate::domain::event::Event;
use crate::domain::pending_prompt::PendingPrompt;
use crate::domain::record::RecordKind;
use crate::domain::scope::Scope;
use crate::domain::session::Session;
use crate::domain::unit::Unit;
use crate::domain::usage::{Occasion, used_of};
use crate::domain::verdict::Finding;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::session_state::SessionState;
use crate::messages::advice;
use crate::messages::next_step::NextStep;

/// Raises a cap for a run or its session, and forgets what was said about the old one.
pub fn raise(state: &mut SessionState, id: &str, finding: &Finding, more: u64) {
    let limit = finding.source.to_string();
    let is_switch = finding.limit().is_some_and(|limit| limit.unit == Unit::Switch);
    if let Some(run) = state.run_mut(id).filter(|_| finding.scope == Scope::Run) {
        run.declined.retain(|key| *key != limit);
        run.pending_trips.retain(|trip| !trip.declined || trip.source != finding.source);
        if is_switch {
            run.repetition.clear();
        }
    }
    let cap = state.side(finding, id).and_then(|side| {
        side.pending_trips.retain(|trip| trip.source != finding.source);
        side.warned.retain(|(key, _)| *key != limit);
        // What is on or off has nothing to raise: it begins anew.
        if is_switch { None } else { side.limits.grant(&limit, more) }
    });
    let budget = state.shared_budgets.iter_mut().find(|budget| budget.scope == finding.scope);
    if let Some(budget) = budget.filter(|_| cap.is_some()) {
        budget.granted.push((limit.clone(), more));
    }
    let raised = Finding { cap: cap.unwrap_or(finding.cap), ..finding.clone() };
    log_records::write(state, id, RecordKind::LimitGranted, &raised);
}

/// Returns what a dialog is about with what is used by now, where that is more: others may have spent since it asked. What was to come
/// then has come.
pub fn as_of_now(state: &SessionState, event: &Event, ask: &PendingPrompt) -> Finding {
    let finding = ask.finding.clone();
    let scopes = state.run(&ask.run).map(|run| measure::usage(state, run, Occasion::of(event)));
    match used_of(&scopes.unwrap_or_default(), &finding) {
        used if used > finding.used => Finding { used, ahead: 0, requests_ahead: 0, ..finding },
        _ => finding,
    }
}

/// Returns what a person does who means more although nobody is asked.
pub fn by_command(session: &Session, ask: &PendingPrompt) -> NextStep {
    let finding = &ask.finding;
    match (finding.has_cap(), finding.scope) {
        (false, _) => NextStep::NextPrompt,
        (true, Scope::Run) => advice::grant(finding, &ask.run),
        (true, _) => advice::grant(finding, &session.id),
    }
}

/// Returns what is lacking of the cap that a dialog said: another Yes, or a command, may have raised it since.
pub fn lacking(state: &mut SessionState, ask: &PendingPrompt) -> u64 {
    let cap = cap_now(state, ask).unwrap_or(ask.finding.cap);
    ask.finding.cap.saturating_add(ask.increase).saturating_sub(cap)
}

/// Returns the cap that a dialog asked for, as it is now.
pub fn cap_now(state: &mut SessionState, ask: &PendingPrompt) -> Option<u64> {
    let side = state.side(&ask.finding, &ask.run)?;
    Some(side.limits.source(&ask.finding.source)?.cap)
}
