//! Answers that were given before: where the client runs the hook twice for one event, the second process repeats the first one's.

use crate::domain::call::CallState;
use crate::domain::event::EventKind;
use crate::engine::session_state::SessionState;
use crate::hook::parse::HookCall;
use crate::wire::output::Answer;

/// Returns the answer that another process has given to the same event, without what it told; only answers with words in them are
/// kept. The process that has held an event asks again, and has not answered it.
pub fn find(state: &SessionState, call: &HookCall, was_held: bool) -> Option<String> {
    let (name, event) = (call.name?.as_str(), &call.event);
    let id = event.call_id()?;
    let call = state.call(id)?;
    let taken = match event.kind {
        // One that is held is not decided yet.
        EventKind::ToolRequested(_) => call.requested.is_some() && call.state != CallState::Unseen,
        EventKind::BatchEnded(_) => call.is_over && !was_held,
        // Taking the end of a call twice changes nothing.
        _ => false,
    };
    let answer = call.answers.get(name).cloned().or_else(|| taken.then(String::new))?;
    Some(Answer::decision_only(&answer))
}

/// Keeps an answer with the call that it is about.
pub fn keep(state: &mut SessionState, run: &str, call: &HookCall, answer: &str) {
    let id = call.event.call_id().filter(|_| !answer.is_empty());
    if let (Some(id), Some(name)) = (id, call.name) {
        state.call_mut(run, id).answers.insert(name.as_str().to_owned(), answer.to_owned());
    }
}
