//! Why a call or a prompt is refused before any limit is looked at. Of several reasons the first is told.

use crate::domain::event::Event;
use crate::domain::session::Session;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::overload;
use crate::hook::parse::HookCall;
use crate::hook::reconcile::limits_lost;
use crate::hook::settings::nested_clients;
use crate::hook::tampering::{altered_rows, changed_calls};
use crate::platform::environment::Environment;
use crate::store::Store;

/// Returns why an event is refused whatever the transcripts say: clients and calls that no limit would see, rows that were altered, and
/// more at once than can be held.
pub fn before_reading(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    call: &HookCall,
) -> Result<Option<String>> {
    let event = &call.event;
    let reason = nested_clients::refusal_reason(env, store, state, call.input, event, &call.guard)?;
    let reason = reason.or_else(|| changed_calls::refusal_reason(&state.session, event));
    let reason = reason.map_or_else(|| altered_rows::refusal_reason(store, state, event), |reason| Ok(Some(reason)))?;
    Ok(reason.or_else(|| overload::refusal_reason(state, event)))
}

/// Returns why an event is refused by what has been read: a limits file that may have been changed with a lost state.
pub fn after_reading(session: &Session, event: &Event) -> Option<String> {
    limits_lost::refusal_reason(session, event)
}
