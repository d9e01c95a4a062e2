//! Agents that were asked for: what is held for them, and let go of.

use crate::engine::session_state::SessionState;

/// Lets go of what a spawn had taken: its agent has ended, or never came.
pub fn release_spawn(state: &mut SessionState, call: &str) {
    let woken = state.session.spawns.iter().find(|spawn| spawn.call == call).and_then(|spawn| spawn.wakes.clone());
    if let Some(woken) = woken {
        state.release(&woken);
    }
    state.session.spawns.retain(|spawn| spawn.call != call);
    state.release(call);
}
