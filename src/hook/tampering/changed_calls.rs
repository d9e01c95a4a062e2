//! Calls that a hook has changed after they were looked at: what ran is seen at the end of the call.
//!
//! The last hook to answer says what the client runs. Where that is something that the guard refuses, commands and writes of the
//! session are refused from then on: what else would be changed cannot be seen before it runs.

use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::mode::Mode;
use crate::domain::session::Session;
use crate::domain::stored::stable_hash;
use crate::engine::session_state::SessionState;
use crate::messages::next_step::NextStep;
use crate::messages::{notices, refusals};
use crate::wire::bypass_detection::Guard;
use crate::wire::input::Input;
use crate::wire::output::Answer;
use crate::wire::tool_input::ToolInput;
use crate::wire::tools;

/// Takes note of what a call is to run, where its text names anything that the guard looks at.
pub fn note(state: &mut SessionState, run: &str, event: &Event, input: &Input, answer: &Answer, guard: &Guard) {
    let EventKind::ToolRequested(call) = &event.kind else { return };
    let changed = answer.changed_input().map(ToolInput::new);
    let (runs, may_mention) = match &changed {
        Some(changed) => (Some(changed), tools::may_mention(&call.tool, Some(changed), guard)),
        None => (input.tool_input.as_ref(), call.may_mention),
    };
    if let Some(subject) = tools::subject(&call.tool, runs).filter(|_| may_mention) {
        state.call_mut(run, &call.id).subject = stable_hash::of(subject.as_bytes());
    }
}

/// Looks at what a call has run: where it is refused, and is not what was asked for, the person is told.
pub fn compare_call(state: &mut SessionState, event: &Event, input: &Input) {
    let EventKind::ToolEnded(Call { id, tool, intent: Intent::Tampering { what }, .. }, _) = &event.kind else {
        return;
    };
    let ran = tools::subject(tool, input.tool_input.as_ref()).map_or(0, |subject| stable_hash::of(subject.as_bytes()));
    let asked = state.call(id).map_or(0, |call| call.subject);
    if ran == asked || state.session.mode != Mode::Enforce {
        return;
    }
    state.session.swapped = true;
    if state.session.mark_notified("swapped") {
        state.session.notify_user(&notices::call_changed(what, NextStep::Reload));
    }
}

/// Says why a command or a write is refused in a session whose calls are changed.
pub fn refusal_reason(session: &Session, event: &Event) -> Option<String> {
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    let is_changed = session.swapped && tools::is_guarded(&call.tool);
    is_changed.then(refusals::changed_call)
}
