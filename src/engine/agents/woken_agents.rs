//! Agents that a task of their own in the background wakes, such as a command that is watched. No hook can refuse the request that follows,
//! and it may be answered in words alone: where a limit wider than the agent's own has no room for it, or a stop stands, the agent is ended
//! with what would wake it again.

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::refusal::Refusal;
use crate::domain::session::{Phase, Run};
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::end_client;
use crate::engine::enforce;
use crate::engine::lifecycle;
use crate::engine::orders;
use crate::engine::session_state::SessionState;

/// Whether an agent that had ended goes on although nobody has asked it to.
pub fn wakes_itself(state: &SessionState, event: &Event) -> bool {
    let Agent::Sub { id, .. } = &event.agent else { return false };
    let is_asked = state.session.spawns.iter().any(|spawn| spawn.wakes.as_ref() == Some(id));
    let had_begun = |run: &Run| run.admitted && (run.counters.turns > 0 || run.counters.spent.requests > 0);
    let had_ended = state.run(id).is_some_and(|run| !run.working && had_begun(run));
    event.kind == EventKind::SubagentStarted && had_ended && !is_asked
}

/// Ends an agent that has woken itself, where it may not go on; returns what it is told then.
pub fn end_without_room(state: &mut SessionState, id: &str, event: &Event) -> Option<Verdict> {
    let held = if state.run(id).is_some_and(|run| run.order.is_none()) { hold(state, id, event) } else { None };
    let is_halted = |run: &Run| run.order.as_ref().is_some_and(|order| order.phase == Phase::Halted);
    if state.run(id).is_some_and(is_halted)
        && let Some(run) = state.run_mut(id)
    {
        // Also of an agent that is paused, be it since before: each line of a command that it has watched is a request.
        let background = std::mem::take(&mut run.background);
        state.effects.kills.extend(background);
    }
    held
}

/// Gives it the stop that stands for its session, or that of a limit without room.
fn hold(state: &mut SessionState, id: &str, event: &Event) -> Option<Verdict> {
    if let Some(order) = state.order_above() {
        let verdict = Verdict::refusing(Decision::Warn, vec![order.finding.clone()], Refusal::Ordered { grace: 0 });
        if let Some(run) = state.run_mut(id) {
            lifecycle::halt_below(run, order, id);
        }
        orders::close(state, id, event);
        return Some(verdict);
    }
    let finding = end_client::used_up(state, id, event, false)?;
    let verdict = Verdict::refusing(Decision::Warn, vec![finding], Refusal::Tripped { grace: 0 });
    enforce::enforce(state, id, event, &verdict);
    Some(verdict)
}
