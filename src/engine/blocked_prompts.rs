//! Prompts that are not sent: each is written down.

use crate::domain::charge::RecordKind;
use crate::domain::event::{Event, EventKind};
use crate::domain::verdict::{Finding, Refusal, Verdict};
use crate::engine::log_records;
use crate::engine::session_state::SessionState;

/// Whether a finding keeps a prompt back: each prompt that is not sent is written down, whoever was told of the limit before.
pub fn is_noted(verdict: &Verdict, finding: &Finding) -> bool {
    let is_blocked = verdict.refusal == Some(Refusal::Blocked) && !verdict.observed;
    is_blocked && verdict.deciding() == Some(finding)
}

/// Writes down that a prompt was not sent, with the limit that decided.
pub fn note(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    let Some(finding) = verdict.deciding().filter(|finding| is_noted(verdict, finding)) else { return };
    if matches!(event.kind, EventKind::Prompt { .. }) {
        log_records::write(state, id, RecordKind::AgentWarning, finding);
    }
}
