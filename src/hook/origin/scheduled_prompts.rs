//! Prompts that the client's own schedule sends: their words may be any, so the transcript says it.

use std::path::Path;

use crate::domain::event::{Agent, Event, EventKind};
use crate::engine::session_state::SessionState;
use crate::transcript::schedule;
use crate::wire::input::Input;

/// Takes a prompt for a machine's where the transcript's new rows say that the schedule has sent it. Anybody can write such a row, so
/// it says nothing where the session has scheduled nothing, nor about another prompt.
pub fn mark(event: &mut Event, input: &Input, state: &SessionState) {
    let EventKind::Prompt { notifications, by_machine, .. } = &mut event.kind else { return };
    let tail = &state.session.position;
    if event.agent == Agent::Main && notifications.is_empty() && !*by_machine && state.session.schedules {
        *by_machine = schedule::has_fired(Path::new(&tail.path), tail.offset, input.prompt()).unwrap_or(false);
    }
}
