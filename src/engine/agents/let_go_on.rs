//! Subagents that a stop has cut off and a person lets go on: only a message wakes one, so the main agent is told of them.

use crate::domain::event::{Event, EventKind};
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::session_state::SessionState;

/// How many are named; the client has room for more, and a model reads no longer list.
const NAMED: usize = 12;

/// Takes note of a run that may go on, where it waits for a message.
pub fn note(state: &mut SessionState, id: &str) {
    let Some(run) = state.run(id).filter(|run| run.cut_off && !run.is_main()) else { return };
    let named = (run.id.clone(), run.agent_type.clone());
    let waiting = &mut state.session.let_go_on;
    if waiting.len() < NAMED && !waiting.contains(&named) {
        waiting.push(named);
    }
}

/// Has the main agent told at the next prompt that goes through; of one that has gone on meanwhile, nothing.
pub fn tell(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    if state.session.let_go_on.is_empty() {
        return;
    }
    state.session.let_go_on.retain(|(waiting, _)| waiting != id);
    let is_main = state.run(id).is_some_and(|run| run.is_main());
    if is_main && matches!(event.kind, EventKind::Prompt { .. }) && verdict.decision < Decision::Deny {
        state.effects.let_go_on = std::mem::take(&mut state.session.let_go_on);
    }
}
