//! Prompts that are not sent: each is written down.

use crate::domain::action::Action;
use crate::domain::event::{Event, EventKind};
use crate::domain::record::RecordKind;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::Run;
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::log_records;
use crate::engine::session_state::SessionState;

/// Whether a finding keeps a prompt back: each prompt that is not sent is written down, whoever was told of the limit before.
pub fn is_noted(verdict: &Verdict, finding: &Finding) -> bool {
    let is_blocked = verdict.refusal == Some(Refusal::Blocked) && !verdict.observed;
    is_blocked && verdict.deciding() == Some(finding)
}

/// Whether a prompt that was blocked is told of once more, as where hooks are registered twice: nothing came of the run that it began.
pub fn is_told_again(state: &SessionState, id: &str, event: &Event) -> bool {
    let is_unused = |run: &Run| run.counters.turns == 0 && run.counters.spent.requests == 0;
    let is_its = event.prompt_id.as_deref() == Some(id) && state.session.prompt_block.is_some();
    is_its && !state.was_opened(id) && state.run(id).is_some_and(is_unused)
}

/// Writes down that a prompt was not sent, with the limit or order that decided.
pub fn note(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let EventKind::Prompt { notifications, by_machine, .. } = &event.kind else { return };
    // Machines may prompt an agent that is held each minute.
    let is_persons = !by_machine && notifications.is_empty();
    let is_ordered = matches!(verdict.refusal, Some(Refusal::Ordered { .. })) && verdict.decision >= Decision::Deny;
    let is_held = is_ordered && is_persons && !verdict.observed;
    let is_told_again = is_told_again(state, id, event);
    let is_known = |finding: &Finding| state.session.prompt_block.as_ref().is_some_and(|it| it.is_same_limit(finding));
    let decides = |finding: &&Finding| (is_held || is_noted(verdict, finding)) && !(is_told_again && is_known(finding));
    let Some(finding) = verdict.deciding().filter(decides) else { return };
    log_records::write(state, id, RecordKind::AgentWarning, finding);
    let of_order = finding.limit().is_none().then_some(finding.action);
    if let (Some(action), Some(record)) = (of_order, state.effects.log_records.last_mut()) {
        let did = if action == Action::Pause { "paused" } else { "stopped" };
        let what = match finding.scope {
            Scope::Run => "its agent",
            Scope::Outer => "the session above",
            _ => "its session",
        };
        record.error = format!("A prompt was blocked: {what} is {did}");
    }
}
