//! Rows of the state that another program has changed, as an agent can: a session of which one was is forgotten, and counted again
//! from its transcripts.

use std::path::Path;

use crate::domain::bounds::of_model;
use crate::domain::event::{Event, EventKind};
use crate::domain::session::Session;
use crate::engine::session_state::SessionState;
use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::wire::messages::short;

/// Returns the failure of an event whose session, or one of whose runs, is not as it was written.
pub fn altered(session: &str) -> Error {
    let what = format!("another program has changed the rows of session {} in the state", short(session));
    Error::failed(what).of_kind(ErrorKind::Altered).hint("its next event counts it again from its transcripts")
}

/// Deletes what the state in a folder has of a session, for its event to begin anew.
pub fn forget(folder: &Path, session: &str) -> Result<()> {
    let store = Store::open_for(folder, Some(session))?;
    store.begin()?;
    store.forget_session(session)?;
    store.commit()
}

/// Takes over what is left in the state of a session that has no row: rows of its own are deleted, and what was charged
/// at an estimate stays charged, since no transcript shows it.
pub fn take_over(store: &Store, new: &mut Session) -> Result<()> {
    store.forget_session(&new.id)?;
    for charge in store.charges_of(&new.id)? {
        new.counters.spent += charge.spend;
        new.counters.unlogged += charge.spend;
        *of_model(&mut new.by_model, &charge.model, !charge.unknown_model) += charge.spend;
    }
    Ok(())
}

/// Says why a prompt or call is refused: the counters of a session above it are not as they were written, and only that session's
/// own events count it again.
pub fn held(state: &SessionState, event: &Event) -> Option<String> {
    let asks = matches!(event.kind, EventKind::ToolRequested(_) | EventKind::Prompt { .. } | EventKind::Compacting);
    let above = state.above.iter().find(|above| above.is_altered).filter(|_| asks)?;
    Some(format!(
        "no prompt and no call of this client is let through: another program has changed the rows of session {}, which started it, in the \
         state. That session's next event counts it again.",
        short(&above.id)
    ))
}
