//! Agents that were asked for: what is held for them, and let go of.

use crate::engine::session_state::Book;

/// Lets go of what a spawn had taken: its agent has ended, or never came.
pub fn release_spawn(book: &mut Book, call: &str) {
    let woken = book.session.spawns.iter().find(|spawn| spawn.call == call).and_then(|spawn| spawn.wakes.clone());
    if let Some(woken) = woken {
        book.release(&woken);
    }
    book.session.spawns.retain(|spawn| spawn.call != call);
    book.release(call);
}
