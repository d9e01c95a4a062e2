//! What one event could not take in of a session's transcripts: the next ones go on with it, and no call is made meanwhile.

use std::path::Path;

use crate::domain::transcript_position::Unread;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::load_on_demand::need_run;
use crate::store::Store;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::layout;

/// Goes on with what the events before could not take in, whoever's it is; `reads_main` says whether the event reads the main
/// transcript anyway.
pub fn go_on(
    store: &Store,
    ingest: &mut TranscriptIngest<&Store>,
    state: &mut SessionState,
    reads_main: bool,
) -> Result<()> {
    if !reads_main {
        ingest.main(state, None)?;
    }
    let session = &state.session;
    let folder = layout::folder(Path::new(&session.position.path));
    let is_of_agent = |path: &&String| {
        Path::new(path) != folder
            && **path != session.position.path
            && session.more_positions.iter().all(|tail| tail.path != **path)
    };
    for path in session.unread.keys().filter(is_of_agent).cloned().collect::<Vec<_>>() {
        let id = layout::agent_id(Path::new(&path)).unwrap_or_default();
        need_run(store, state, &id)?;
        if state.run(&id).and_then(|run| run.position.as_ref()).is_some_and(|tail| tail.path == path) {
            ingest.agent(state, &id, None)?;
        } else {
            // It is not this session's any more.
            state.session.leave(&path, Unread::default());
        }
    }
    Ok(())
}
