//! Loads into the state what is not in it yet: nothing is read twice, and what is in it may have changed.

use std::collections::BTreeMap;

use crate::domain::call::CallRecord;
use crate::engine::session_state::{DEEPEST, SessionState};
use crate::error::Result;
use crate::hook::tampering::altered_rows;
use crate::store::Store;

/// Loads a run.
pub fn need_run(store: &Store, state: &mut SessionState, id: &str) -> Result<()> {
    if state.run(id).is_none()
        && let Some(run) = store.run(&state.session.id, id)?
    {
        if run.is_altered {
            return Err(altered_rows::altered(&state.session.id));
        }
        state.insert_loaded_run(run);
    }
    Ok(())
}

/// Loads the runs of its session that an event of another run may touch.
pub fn need_open_runs(store: &Store, state: &mut SessionState) -> Result<()> {
    for id in state.session.open.clone() {
        need_known_run(store, state, &id)?;
    }
    Ok(())
}

/// Loads a run that the session names: it was saved with it.
pub fn need_known_run(store: &Store, state: &mut SessionState, id: &str) -> Result<()> {
    need_run(store, state, id)?;
    state.run(id).map(|_| ()).ok_or_else(|| altered_rows::altered(&state.session.id))
}

/// Loads a call.
pub fn need_call(store: &Store, state: &mut SessionState, id: &str) -> Result<()> {
    if state.call(id).is_none()
        && let Some(call) = known_call(store, &state.session.id, id)?
    {
        state.insert_loaded_call(id, call);
    }
    Ok(())
}

/// Loads a call that asks to run. A row without a seal says nothing of it, unless an earlier version may have written it: anybody
/// can write one beforehand.
pub fn need_requested_call(store: &Store, state: &mut SessionState, id: &str) -> Result<()> {
    let Some(call) = known_call(store, &state.session.id, id)? else { return Ok(()) };
    if call.is_sealed || store.has_earlier_rows()? {
        state.insert_loaded_call(id, call);
    }
    Ok(())
}

/// Returns what is known of a call, as Fusebox has written it. A row without a seal says of no event that it was answered.
pub fn known_call(store: &Store, session: &str, id: &str) -> Result<Option<CallRecord>> {
    match store.call(session, id)? {
        Some(call) if call.is_altered => Err(altered_rows::altered(session)),
        Some(call) if !call.is_sealed && !store.has_earlier_rows()? => {
            Ok(Some(CallRecord { is_over: false, answers: BTreeMap::new(), ..call }))
        }
        other => Ok(other),
    }
}

/// Loads a run and those above it.
pub fn need_ancestors(store: &Store, state: &mut SessionState, first: Option<String>) -> Result<()> {
    let mut at = first;
    for _ in 0..DEEPEST {
        let Some(id) = at else { break };
        need_run(store, state, &id)?;
        at = state.run(&id).and_then(|run| run.parent.clone());
    }
    Ok(())
}
