//! Prompts that the client's own schedule sends: their words may be any, so the transcript says it.

use std::path::Path;

use crate::engine::book::Book;
use crate::engine::event::{Agent, Event, Kind};
use crate::transcript::schedule;
use crate::wire::input::prompt_hash;

/// Takes a prompt for a machine's where the transcript's new rows say that the schedule has sent it.
pub fn mark(event: &mut Event, book: &Book) {
    let Kind::Prompt { text_hash, notifications, by_machine } = &mut event.kind else { return };
    let tail = &book.session.tail;
    if event.agent == Agent::Main && notifications.is_empty() && !*by_machine {
        *by_machine =
            schedule::has_fired(Path::new(&tail.path), tail.offset, |prompt| prompt_hash(prompt) == *text_hash)
                .unwrap_or(false);
    }
}
