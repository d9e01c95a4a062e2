//! Prompts that the client's own schedule sends: their words may be any, so the transcript says it.

use std::path::Path;

use crate::domain::event::{Agent, Event, Kind};
use crate::engine::session_state::Book;
use crate::transcript::schedule;
use crate::wire::input::Input;

/// Takes a prompt for a machine's where the transcript's new rows say that the schedule has sent it. Anybody can write such a row, so
/// it says nothing where the session has scheduled nothing, nor about another prompt.
pub fn mark(event: &mut Event, input: &Input, book: &Book) {
    let Kind::Prompt { notifications, by_machine, .. } = &mut event.kind else { return };
    let tail = &book.session.tail;
    if event.agent == Agent::Main && notifications.is_empty() && !*by_machine && book.session.schedules {
        *by_machine = schedule::has_fired(Path::new(&tail.path), tail.offset, input.prompt()).unwrap_or(false);
    }
}
