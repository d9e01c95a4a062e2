//! Turns that no person has begun: another session or a program of the agent's has sent their prompt over the client's socket, a hook has
//! woken the agent, the client goes on by itself. The prompt's hook is not told so; the row that the client writes then is.

use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::transcript::row::Opening;

/// Returns the run that the turn at hand goes on with, where the transcript shows that no person has begun it.
pub(super) fn run_of_machines_turn(state: &mut SessionState, run: &str, opening: Option<&Opening>) -> Option<String> {
    let opening = opening.filter(|opening| state.session.prompt_id.as_ref() == Some(&opening.prompt))?;
    if state.session.main.as_deref() != Some(run) {
        return None;
    }
    if opening.by_machine {
        return find_run::rejoin(state);
    }
    state.session.main_before = None;
    None
}
