//! Shell commands that run on in the background of a run.

use crate::domain::bounds::COMMANDS;
use crate::domain::event::Background;
use crate::domain::mode::Mode;
use crate::engine::session_state::SessionState;
use crate::messages::notices;

/// Notes a shell command that runs on, so that it is ended with its run; one of too many is ended at once.
pub fn in_background(state: &mut SessionState, run: &str, command: Background) {
    let observes = state.session.mode == Mode::Observe;
    let Some(of) = state.run_mut(run) else { return };
    if of.background.len() < COMMANDS {
        of.background.push(command);
    } else if !observes {
        state.session.notify_user(&notices::command_ended(COMMANDS, shown(&command.command)));
        state.effects.kills.push(command);
    }
}

/// How much of a command is shown, in characters.
const SHOWN: usize = 80;

fn shown(command: &str) -> &str {
    command.char_indices().nth(SHOWN).map_or(command, |(end, _)| &command[..end])
}
