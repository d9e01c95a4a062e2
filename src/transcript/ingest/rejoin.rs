//! Turns that no person has begun: another session or a program of the agent's has sent their prompt over the client's socket, a hook has
//! woken the agent, the client goes on by itself. The prompt's hook is not told so; the row that the client writes then is.

use crate::engine::rejoin;
use crate::engine::session_state::SessionState;
use crate::transcript::openings::Openings;

/// Returns the run that the turn at hand goes on with, where the transcript shows that no person has begun it.
pub(super) fn run_of_machines_turn(state: &mut SessionState, run: &str, openings: &Openings) -> Option<String> {
    let by_machine = openings.by_machine(state.session.prompt_id.as_deref()?)?;
    if state.session.main.as_deref() != Some(run) {
        return None;
    }
    if by_machine {
        return rejoin::rejoin(state);
    }
    state.session.main_before = None;
    None
}
