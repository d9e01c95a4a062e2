//! Calls that are refused since so much of what they would begin is under way that no more could be kept track of.

use crate::domain::bounds::{COMMANDS, OPEN_RUNS, SPAWNS};
use crate::domain::event::{Agent, Event, EventKind, Intent};
use crate::engine::agents::agents_at_work::SPAWN_LIVES_MS;
use crate::engine::session_state::SessionState;
use crate::hook::background;
use crate::messages::refusals;
use crate::wire::tools;

/// Says why a call is refused for that; nothing where there is room.
pub fn refusal_reason(state: &mut SessionState, event: &Event) -> Option<String> {
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    match call.intent {
        Intent::Spawn { .. } | Intent::Message { .. } => of_agents(state, event),
        Intent::Timed { .. } if tools::runs_shell(&call.tool) => of_commands(state, event),
        _ => None,
    }
}

fn of_agents(state: &mut SessionState, event: &Event) -> Option<String> {
    let session = &mut state.session;
    if session.spawns.len() >= SPAWNS {
        session.spawns.retain(|spawn| event.at.wall_since(spawn.at) < SPAWN_LIVES_MS);
    }
    let most = if session.spawns.len() >= SPAWNS {
        format!("{SPAWNS} agents that were asked for have not begun")
    } else if session.open.iter().filter(|id| session.read_to.get(*id) != Some(&None)).count() >= OPEN_RUNS {
        format!("{OPEN_RUNS} agents are at work")
    } else {
        return None;
    };
    Some(refusals::too_many_agents(most))
}

fn of_commands(state: &mut SessionState, event: &Event) -> Option<String> {
    let (client, main) = (state.session.client, state.session.main.clone());
    let id = match &event.agent {
        Agent::Sub { id, .. } => id.clone(),
        Agent::Main => main?,
    };
    if state.run(&id).is_none_or(|run| run.background.len() < COMMANDS) {
        return None;
    }
    let run = state.run_mut(&id)?;
    if let Some(client) = client {
        background::tasks::forget_gone(client, &mut run.background);
    }
    (run.background.len() >= COMMANDS).then(|| refusals::too_many_commands(COMMANDS))
}
