//! What goes on where no hook is asked: it cannot be counted, so the person is told.

use crate::domain::event::{Event, EventKind};
use crate::engine::session_state::SessionState;
use crate::messages::notices;
use crate::wire::bypass_detection::Guard;
use crate::wire::input::Input;
use crate::wire::tools;

/// Tells the person, once a session, that a shell command speaks to the model itself.
pub fn note_messages(state: &mut SessionState, input: &Input, event: &Event, guard: &Guard) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    if tools::asks_the_model(&call.tool, input.tool_input.as_ref(), guard) && state.session.mark_notified("api") {
        state.session.notify_user(&notices::model_asked_by_shell());
    }
}
