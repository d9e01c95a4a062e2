//! What the requests of an event are taken for that no transcript shows, by the table of tools and the hooks in the settings.

use crate::domain::call::CallState;
use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::gather::gather;
use crate::domain::model_hook::{self, ModelHook, is_hook_agent};
use crate::domain::session::Session;
use crate::domain::spend::charge::NewCharge;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::unlogged_requests::UnloggedRequests;
use crate::engine::charging::compactions;
use crate::engine::estimate;
use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::pricing::price;
use crate::pricing::table::Table;
use crate::pricing::usage::TokenUsage;
use crate::transcript::first::first_request;
use crate::transcript::stand_in;
use crate::wire::events::EventName;
use crate::wire::tools::{self, UnloggedRequest};

/// What a hook of type `prompt` or `agent` asks: client 2.1.328 sends 2 to 19 KB beside the conversation.
const HOOK: UnloggedRequest = UnloggedRequest { prompt: 4_000, completion: 300, searches: 0 };

/// Whether an event brings requests that no transcript shows.
pub fn is_any(session: &Session, event: &Event) -> bool {
    calls(event).iter().any(|call| tools::unlogged_request(&call.tool).is_some())
        || hooks(session, event).next().is_some()
        || hooks_ahead(session, event) != (0, 0)
}

/// Prices the requests of an event that no transcript shows.
pub fn estimate_requests<'t>(
    state: &mut SessionState,
    event: &Event,
    found: &[(String, NewCharge)],
    table: impl Fn() -> &'t Table,
) {
    let own = is_of_the_clients_own(state, event);
    let is_asked_again = is_asked_again(state, event);
    let is_any = is_any(&state.session, event) || !state.session.model_hooks.is_empty();
    if !is_any && !is_unnamed(state, event) && !own && !is_asked_again {
        return;
    }
    let (table, at_ms) = (table(), event.at.wall_ms);
    let model = stand_in::main_model(state, table, at_ms);
    let spend = |asks: UnloggedRequest| {
        let UnloggedRequest { prompt, completion, searches } = asks;
        let usage = TokenUsage { input: prompt, output: completion, web_searches: searches, ..TokenUsage::default() };
        let cost = price::price(table, &model, at_ms, &usage, None).cost;
        Spend { requests: 1, tokens: usage.counted_tokens(), cache_reads: 0, cost }
    };
    let is_new = |call: &&Call| state.call(&call.id).is_none_or(|known| known.state != CallState::Counted);
    let asked = calls(event).iter().filter(is_new);
    let of_calls =
        asked.filter_map(|call| Some((call.id.clone(), spend(tools::unlogged_request(&call.tool)?)))).collect();
    let unnamed = u64::from(is_unnamed(state, event)) + u64::from(is_asked_again);
    let count = hooks(&state.session, event).fold(unnamed, |sum: u64, hook| sum.saturating_add(hook.count));
    let at_end = UnloggedRequest { prompt: HOOK.prompt.max(conversation(state, event, found)), ..HOOK };
    let hook = if event.ending().is_some() { at_end } else { HOOK };
    let own = if own { spend_of_own(state, table, at_ms) } else { Spend::default() };
    let (hooks_of_call, of_batch) = hooks_ahead(&state.session, event);
    let id = acting(state, event);
    if let (EventKind::ToolEnded(..), Some(run)) = (&event.kind, id.as_ref().and_then(|id| state.run_mut(id))) {
        run.hooks_of_batch = run.hooks_of_batch.saturating_sub(count);
    }
    let beside = id.and_then(|id| state.run(&id)).map_or(0, |run| run.hooks_of_batch);
    let hooks_ahead = spend(HOOK) * hooks_of_call.saturating_add(of_batch).saturating_add(beside);
    let hooks = spend(hook) * count + own;
    let of_response = |agent: &Agent, asks| {
        let (calls, end) = hooks_of_response(&state.session, agent);
        (spend(HOOK) * calls, (spend(HOOK) * calls).max(spend(asks) * end))
    };
    let (hooks_of_calls, hooks_of_response) = match asked_next(state, event) {
        Some(other) => of_response(&other, HOOK),
        None => of_response(&event.agent, at_end),
    };
    let (_, hooks_of_others) = of_response(&of_type(""), HOOK);
    state.facts.unlogged_requests = UnloggedRequests {
        hooks,
        hooks_ahead,
        hooks_of_call,
        hooks_of_response,
        hooks_of_calls,
        hooks_of_others,
        calls: of_calls,
        model,
    };
}

/// Whether an agent is met for the first time that the client has made for itself, such as one that answers a side question. The one
/// that writes a compaction's summary is charged by that.
fn is_of_the_clients_own(state: &SessionState, event: &Event) -> bool {
    let Agent::Sub { id, .. } = &event.agent else { return false };
    let is_met = matches!(event.kind, EventKind::SubagentEnded(_) | EventKind::ToolRequested(_));
    let is_new = is_met && find_run::is_nameless(event) && state.run(id).is_none();
    is_new && !is_hook_agent(id) && !compactions::is_any_under_way(&state.session)
}

/// Returns what such an agent asks: the conversation of the main run once more.
fn spend_of_own(state: &SessionState, table: &Table, at_ms: i64) -> Spend {
    match state.session.main.as_deref().and_then(|main| state.run(main)).filter(|main| !main.recent.is_empty()) {
        Some(main) => estimate::next(main, &state.session.limits),
        None => first_request(state, table, (at_ms, "")),
    }
}

/// Whether a hook of type `agent` is seen at work for the first time that no settings file has: a skill's, or another agent's.
fn is_unnamed(state: &SessionState, event: &Event) -> bool {
    let Agent::Sub { id, .. } = &event.agent else { return false };
    is_hook_agent(id) && state.run(id).is_none() && state.session.model_hooks.iter().all(|hook| !hook.is_agent)
}

/// Whether a hook of type `agent` that has made no call ends once more: it had answered in words, and the client asked it again.
fn is_asked_again(state: &SessionState, event: &Event) -> bool {
    let Agent::Sub { id, .. } = &event.agent else { return false };
    is_hook_agent(id) && state.run(id).is_none() && event.ending().is_some_and(|ending| ending.again)
}

/// Returns the calls of an event.
fn calls(event: &Event) -> &[Call] {
    match &event.kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => std::slice::from_ref(call),
        EventKind::BatchEnded(calls) => calls,
        _ => &[],
    }
}

/// Returns the hooks that ask the model at an event.
fn hooks<'a>(session: &'a Session, event: &'a Event) -> impl Iterator<Item = &'a ModelHook> {
    let row = EventName::of(&event.kind).map(EventName::row).filter(|row| row.asks_model);
    let runs = move |hook: &&ModelHook| row.is_some_and(|row| hook.runs_at(row.name, &event.agent));
    let of_event = session.model_hooks.iter().filter(runs);
    of_event.filter(|hook| match (&event.kind, &event.agent) {
        (EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _), _) => hook.is_for(&call.tool),
        (EventKind::SubagentStarted | EventKind::SubagentEnded(_), Agent::Sub { agent_type, .. }) => {
            hook.is_for(agent_type)
        }
        _ => true,
    })
}

/// Returns how often hooks may ask the model where the call runs that asks to: at its end with those that it brings, and at its batch's end.
fn hooks_ahead(session: &Session, event: &Event) -> (u64, u64) {
    let EventKind::ToolRequested(call) = &event.kind else { return (0, 0) };
    let at = |name: EventName, is_for: &dyn Fn(&ModelHook) -> bool| {
        let runs = |hook: &&ModelHook| hook.runs_at(name.row().name, &event.agent) && is_for(hook);
        model_hook::most_requests(session.model_hooks.iter().filter(runs))
    };
    let at_end_of = |name| at(name, &|hook| hook.is_for(&call.tool));
    let at_end = at_end_of(EventName::PostToolUse).max(at_end_of(EventName::PostToolUseFailure));
    (at_end.saturating_add(call.brings_hooks), at(EventName::PostToolBatch, &|_| true))
}

/// Returns how often hooks may ask the model for one response of an agent's before any can be refused: for its first call and at the end
/// of a batch, or at the end of the agent's work.
fn hooks_of_response(session: &Session, agent: &Agent) -> (u64, u64) {
    let at = |name: EventName| session.model_hooks.iter().filter(move |hook| hook.runs_at(name.row().name, agent));
    let of_one = |hooks: Vec<&ModelHook>| model_hook::most_requests_of_one(&hooks);
    let of_call = of_one(gather(at(EventName::PreToolUse)));
    let of_batch = model_hook::most_requests(at(EventName::PostToolBatch));
    let of_end = match agent {
        Agent::Main => model_hook::most_requests(at(EventName::Stop)),
        Agent::Sub { agent_type, .. } => {
            let is_its = |hook: &&ModelHook| agent_type.is_empty() || hook.is_for(agent_type);
            of_one(gather(at(EventName::SubagentStop).filter(is_its)))
        }
    };
    (of_call.saturating_add(of_batch), of_end)
}

/// Returns the agent whose request a call asks for, where that is another than the one that calls. Hooks that a type brings are counted with
/// the call that starts an agent of it.
fn asked_next(state: &SessionState, event: &Event) -> Option<Agent> {
    let EventKind::ToolRequested(call) = &event.kind else { return None };
    match &call.intent {
        Intent::Spawn { .. } => Some(of_type("")),
        Intent::Message { to } => state.addressee(to).filter(|run| !run.is_main()).map(|run| of_type(&run.agent_type)),
        _ => None,
    }
}

/// A subagent of which no more is known than its type, if that is.
fn of_type(agent_type: &str) -> Agent {
    Agent::Sub { id: String::new(), agent_type: agent_type.to_owned() }
}

/// Returns the id of the run that acts, where it is known.
fn acting(state: &SessionState, event: &Event) -> Option<String> {
    match &event.agent {
        Agent::Main => state.session.main.clone(),
        Agent::Sub { id, .. } => Some(id.clone()),
    }
}

/// Returns how long the conversation of the acting run is, in tokens, that a hook at the end of its work is sent.
fn conversation(state: &SessionState, event: &Event, found: &[(String, NewCharge)]) -> u64 {
    let Some(run) = acting(state, event).and_then(|id| state.run(&id)) else { return 0 };
    let new = found.iter().filter(|(of, _)| *of == run.id).map(|(_, new)| new.charge.context);
    new.max().unwrap_or(0).max(run.context)
}
