//! Agents that were asked for: what is held for them, and let go of.

use crate::domain::bounds::SPAWN_LIMITS;
use crate::domain::event::{Event, EventKind, Intent};
use crate::domain::session::Status;
use crate::domain::spawn::Spawn;
use crate::domain::time_units::DAY_MS;
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::limit_source::LimitSource;
use crate::engine::session_state::SessionState;

/// How long what was asked for is kept of an agent that never came.
const SPAWN_KEPT_MS: u64 = DAY_MS.cast_unsigned();

/// Keeps room for the agent that a call starts or wakes, where the call is let through.
pub fn keep_room(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict, limit_source: &dyn LimitSource) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    if verdict.decision >= Decision::Deny {
        return;
    }
    let spawn = match &call.intent {
        Intent::Spawn { agent_type, name, prompt, .. } => {
            let limits = limit_source.limits_in(prompt).filter(|limits| limits.len() <= SPAWN_LIMITS);
            let task = task_in(prompt);
            Spawn { agent_type: agent_type.clone(), name: name.clone(), limits, task, ..Spawn::default() }
        }
        Intent::Message { to } => {
            let asleep = state.addressee(to).filter(|run| run.status != Status::Running).map(|run| run.id.clone());
            let is_new = |wakes: &String| state.session.spawns.iter().all(|other| other.wakes.as_ref() != Some(wakes));
            let Some(wakes) = asleep.filter(is_new) else { return };
            Spawn { wakes: Some(wakes), ..Spawn::default() }
        }
        _ => return,
    };
    let at = event.at;
    state.session.spawns.retain(|other| at.wall_since(other.at) < SPAWN_KEPT_MS);
    let depth = state.run(id).map_or(0, |run| run.depth);
    state.session.spawns.push(Spawn { call: call.id.clone(), run: id.to_owned(), depth, at, ..spawn });
}

/// Finds `Task ID: #N` in a spawn prompt.
fn task_in(prompt: &str) -> Option<String> {
    let after = prompt.split("Task ID: #").nth(1)?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// Lets go of what a spawn had taken: its agent has ended, or never came.
pub fn release_spawn(state: &mut SessionState, call: &str) {
    let woken = state.session.spawns.iter().find(|spawn| spawn.call == call).and_then(|spawn| spawn.wakes.clone());
    if let Some(woken) = woken {
        state.release(&woken);
    }
    state.session.spawns.retain(|spawn| spawn.call != call);
    state.release(call);
}
