//! The ends of runs that somebody has to be told of: the model of a parent, and the person, each once.

use crate::domain::bounds;
use crate::domain::event::{Ending, Event, EventKind};
use crate::domain::incomplete;
use crate::domain::run_end::RunEnd;
use crate::domain::session::{Order, Phase, Run, Status};
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::session_state::SessionState;

/// Notes for its parent, and for the person, that a run was stopped or that its work is incomplete, where they were not told yet.
pub fn note_for_parent(state: &mut SessionState, id: &str) {
    note_for_person(state, id);
    let Some(run) = state.run_mut(id) else { return };
    let why = ordered(run).or_else(|| incomplete::incomplete(run));
    let Some(finding) = why.filter(|_| !run.parent_told) else { return };
    run.parent_told = true;
    let end = end_of(run, finding);
    state.effects.ends_for_parents.push(end);
}

/// Notes for the person that a subagent was stopped, where that was not said yet.
pub fn note_for_person(state: &mut SessionState, id: &str) {
    let Some(run) = state.run_mut(id).filter(|run| !run.is_main() && !run.user_told) else { return };
    let Some(finding) = ordered(run) else { return };
    run.user_told = true;
    let end = end_of(run, finding);
    state.effects.ends_for_person.push(end);
}

/// Notes for the person, once, that the main agent has ended as a limit had it, before its end carries the order out. Where it is
/// stopped in the middle, or its turn is not prolonged once more, the answer says so by itself.
pub fn note_main_for_person(state: &mut SessionState, id: &str, ending: Ending) {
    let obeys = |order: &Order| order.phase != Phase::Halted && order.finding.limit().is_some() && !ending.again;
    let is_new = |run: &&mut Run| run.is_main() && !run.user_told && run.order.as_ref().is_some_and(obeys);
    let Some(run) = state.run_mut(id).filter(is_new) else { return };
    let Some(finding) = ordered(run) else { return };
    run.user_told = true;
    let end = end_of(run, finding);
    state.effects.ends_for_person.push(end);
}

/// Holds back what a prompt that is not sent would have told the main agent, and has the first one that goes through tell it.
pub fn wait_for_prompt(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict) {
    if !matches!(event.kind, EventKind::Prompt { .. }) || !state.run(id).is_some_and(Run::is_main) {
        return;
    }
    if verdict.observed {
        // Nobody is told anything with such an answer.
    } else if verdict.decision < Decision::Deny {
        state.effects.ends_for_parents.splice(0..0, std::mem::take(&mut state.session.untold_ends));
    } else {
        let untold = std::mem::take(&mut state.effects.ends_for_parents);
        let room = bounds::UNTOLD_ENDS.saturating_sub(state.session.untold_ends.len());
        state.session.untold_ends.extend(untold.into_iter().take(room));
    }
}

fn ordered(run: &Run) -> Option<Finding> {
    run.order.as_ref().map(|order| order.finding.clone())
}

fn end_of(run: &Run, finding: Finding) -> RunEnd {
    RunEnd {
        run: run.id.clone(),
        agent_type: run.agent_type.clone(),
        finding,
        stopped_with: run.stopped_with.clone(),
        paused: run.status == Status::Paused,
        reason: run.order.as_ref().and_then(|order| order.reason.clone()),
    }
}
