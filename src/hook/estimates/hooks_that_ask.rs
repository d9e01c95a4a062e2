//! Which hooks of others ask the model at an event, and which may ask before the next that can be refused.

use crate::domain::call::{CallRecord, CallState, Ended};
use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::gather::gather;
use crate::domain::model_hook::{self, ModelHook};
use crate::domain::session::Session;
use crate::domain::spend::meters::Spend;
use crate::engine::session_state::SessionState;
use crate::wire::events::EventName;
use crate::wire::untold_events::{self, DENIED, EXPANDED, UNTOLD};

/// Returns the hooks that ask the model at an event.
pub(super) fn hooks<'a>(session: &'a Session, event: &'a Event) -> impl Iterator<Item = &'a ModelHook> {
    let row = EventName::of(&event.kind).map(EventName::row).filter(|row| row.asks_model);
    let runs = move |hook: &&ModelHook| row.is_some_and(|row| hook.runs_at(row.name, &event.agent));
    let of_event = session.model_hooks.iter().filter(runs);
    of_event.filter(|hook| match (&event.kind, &event.agent) {
        (EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _), _) => hook.is_for_call(call),
        (EventKind::SubagentStarted | EventKind::SubagentEnded(_), Agent::Sub { agent_type, .. }) => {
            hook.is_for(agent_type)
        }
        _ => true,
    })
}

/// Whether hooks may ask at events that Fusebox is not told of.
pub(super) fn may_be_untold(session: &Session) -> bool {
    session.model_hooks.iter().any(|hook| UNTOLD.iter().any(|(name, _)| *name == hook.event))
}

/// Returns the hooks that have asked the model at events that Fusebox is not told of, as far as the event at hand shows that these came.
pub(super) fn at_untold_events<'a>(state: &'a SessionState, event: &'a Event) -> Vec<&'a ModelHook> {
    let at = |name: &'static str| state.session.model_hooks.iter().filter(move |hook| hook.runs_at(name, &event.agent));
    match &event.kind {
        EventKind::ToolEnded(call, _) => {
            gather(untold_events::of_tasks(&call.tool, call.ticks_off).into_iter().flat_map(at))
        }
        EventKind::BatchEnded(calls) => {
            let denied = calls.iter().filter(|call| was_denied(state, call));
            gather(denied.flat_map(|call| at(DENIED).filter(move |hook| hook.is_for_call(call))))
        }
        _ => Vec::new(),
    }
}

/// Returns the hooks that ask the model once the prompt at hand is sent: where it is a command, at its expansion.
pub(super) fn once_sent<'a>(session: &'a Session, event: &'a Event) -> impl Iterator<Item = &'a ModelHook> {
    let is_command = matches!(event.kind, EventKind::Prompt { is_command: true, .. });
    session.model_hooks.iter().filter(move |hook| is_command && hook.runs_at(EXPANDED, &event.agent))
}

/// Whether the client's judge has denied a call of a batch: it was let ask, and neither ran nor was rejected.
fn was_denied(state: &SessionState, call: &Call) -> bool {
    let has_no_end = |known: &CallRecord| known.state != CallState::Refused && known.ended == Ended::No;
    call.is_judged && !call.fingerprints.was_rejected && state.call(&call.id).is_some_and(has_no_end)
}

/// Returns what hooks may spend where the call runs that asks to: at its end, and at its batch's end.
pub(super) fn hooks_ahead(session: &Session, event: &Event, each: &dyn Fn(&ModelHook) -> Spend) -> (Spend, Spend) {
    let EventKind::ToolRequested(call) = &event.kind else { return Default::default() };
    let at = |name: &str, is_for: &dyn Fn(&ModelHook) -> bool| {
        let runs = |hook: &&ModelHook| hook.runs_at(name, &event.agent) && is_for(hook);
        model_hook::most_spend(session.model_hooks.iter().filter(runs), each)
    };
    let of_call = |name: &str| at(name, &|hook| hook.is_for_call(call));
    let of_tasks = untold_events::of_tasks(&call.tool, call.ticks_off).map(of_call).unwrap_or_default();
    let at_end = of_call("PostToolUse").max(of_call("PostToolUseFailure")) + of_tasks;
    let denied = if call.is_judged { of_call(DENIED) } else { Spend::default() };
    (at_end.max(denied), at("PostToolBatch", &|_| true))
}

/// What a hook's request is taken for.
pub(super) type EachHook<'a> = &'a dyn Fn(&ModelHook) -> Spend;

/// Returns what hooks may spend for one response of an agent's before any can be refused: for its first call and at the end of a batch,
/// or at the end of the agent's work.
pub(super) fn hooks_of_response(session: &Session, agent: &Agent, each: EachHook, at_end: EachHook) -> (Spend, Spend) {
    let at = |name: EventName| session.model_hooks.iter().filter(move |hook| hook.runs_at(name.row().name, agent));
    let of_call = model_hook::most_spend_of_one(&gather::<Vec<_>, _>(at(EventName::PreToolUse)), each);
    let of_batch = model_hook::most_spend(at(EventName::PostToolBatch), each);
    let of_end = match agent {
        Agent::Main => model_hook::most_spend(at(EventName::Stop), at_end),
        Agent::Sub { agent_type, .. } => {
            let is_its = |hook: &&ModelHook| agent_type.is_empty() || hook.is_for(agent_type);
            model_hook::most_spend_of_one(&gather::<Vec<_>, _>(at(EventName::SubagentStop).filter(is_its)), at_end)
        }
    };
    (of_call + of_batch, of_end)
}

/// Returns the agent whose request a call asks for, where that is another than the one that calls. Hooks that a type brings are counted with
/// the call that starts an agent of it.
pub(super) fn asked_next(state: &SessionState, event: &Event) -> Option<Agent> {
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    match &call.intent {
        Intent::Spawn { .. } => Some(of_type("")),
        Intent::Message { to } => state.addressee(to).filter(|run| !run.is_main()).map(|run| of_type(&run.agent_type)),
        _ => None,
    }
}

/// A subagent of which no more is known than its type, if that is.
pub(super) fn of_type(agent_type: &str) -> Agent {
    Agent::Sub { id: String::new(), agent_type: agent_type.to_owned() }
}
