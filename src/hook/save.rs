//! Saves and commits the state after an event.

use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::text::rfc3339;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::background::recount::{self, RecountJob};
use crate::hook::background::{prune_due, team_sync};
use crate::hook::deadline::Deadline;
use crate::hook::load::Loaded;
use crate::platform::environment::Environment;
use crate::store::Store;

/// A state whose event is committed.
pub struct Saved {
    /// The database, still open.
    pub store: Store,
    /// The state as it was saved.
    pub state: SessionState,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether it is time to prune it.
    pub prunes: bool,
    /// Whether it is time to tell the team.
    pub syncs: bool,
    /// Which sessions are to be counted again.
    pub recounts: Option<RecountJob>,
}

/// Saves what is loaded and makes it durable; does not return where the call's time is up before that.
pub fn save(env: &Environment, loaded: Loaded, deadline: &Deadline, event: &Event, folder: PathBuf) -> Result<Saved> {
    let Loaded { store, mut state, .. } = loaded;
    for record in &mut state.effects.log_records {
        record.at = rfc3339::format(state.session.last.wall_ms);
    }
    let recounts = recount::claim(env, &store, &state.session, event)?;
    store.save(&mut state)?;
    let prunes = prune_due::claim(&store, event)?;
    let syncs = team_sync::claim_after(&store, &state, event)?;
    deadline.claim_commit();
    store.commit()?;
    Ok(Saved { store, state, folder, prunes, syncs, recounts })
}
