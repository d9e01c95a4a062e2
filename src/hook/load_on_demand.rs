//! Loads into a book what is not in it yet: nothing is read twice, and what is in it may have changed.

use crate::engine::session_state::Book;
use crate::error::Result;
use crate::store::Store;

/// Loads a run.
pub fn need_run(store: &Store, book: &mut Book, id: &str) -> Result<()> {
    if book.run(id).is_none()
        && let Some(run) = store.run(&book.session.id, id)?
    {
        book.lay_run(run);
    }
    Ok(())
}

/// Loads a call.
pub fn need_call(store: &Store, book: &mut Book, id: &str) -> Result<()> {
    if book.call(id).is_none()
        && let Some(call) = store.call(&book.session.id, id)?
    {
        book.lay_call(id, call);
    }
    Ok(())
}

/// Loads a run and those above it.
pub fn need_ancestors(store: &Store, book: &mut Book, first: Option<String>) -> Result<()> {
    let mut at = first;
    for _ in 0..64 {
        let Some(id) = at else { break };
        need_run(store, book, &id)?;
        at = book.run(&id).and_then(|run| run.parent.clone());
    }
    Ok(())
}
