//! What the requests of an event are taken for that no transcript shows, by the table of tools and the hooks in the settings.

use crate::domain::call::CallState;
use crate::domain::event::{Agent, Call, Event, EventKind};
use crate::domain::model_hook::{ModelHook, is_hook_agent};
use crate::domain::session::Session;
use crate::domain::spend::charge::NewCharge;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::unlogged_requests::UnloggedRequests;
use crate::engine::charging::compactions;
use crate::engine::estimate;
use crate::engine::find_run;
use crate::engine::session_state::SessionState;
use crate::hook::estimates::hooks_that_ask::{self, asked_next, hooks, hooks_ahead, hooks_of_response, of_type};
use crate::pricing::price;
use crate::pricing::table::Table;
use crate::pricing::usage::TokenUsage;
use crate::transcript::first::first_request;
use crate::transcript::stand_in;
use crate::wire::tools::{self, UnloggedRequest};

/// What a hook of type `prompt` or `agent` asks: client 2.1.328 sends 2 to 19 KB beside the conversation.
const HOOK: UnloggedRequest = UnloggedRequest { prompt: 4_000, completion: 300, searches: 0 };

/// Whether an event brings requests that no transcript shows.
pub fn is_any(session: &Session, event: &Event) -> bool {
    let one = |_: &ModelHook| Spend { requests: 1, ..Spend::default() };
    let (of_call, of_batch) = hooks_ahead(session, event, &one);
    calls(event).iter().any(|call| tools::unlogged_request(&call.tool).is_some())
        || find_run::is_nameless(event)
        || hooks(session, event).next().is_some()
        || hooks_that_ask::may_be_untold(session)
        || of_call.requests + of_batch.requests > 0
        || event.kind.call().is_some_and(|call| call.brings_hooks > 0)
}

/// What requests cost that no transcript shows.
struct Prices<'t> {
    table: &'t Table,
    at_ms: i64,
    /// The model that is asked where nothing names another.
    model: String,
}

impl Prices<'_> {
    /// Returns what one request spends.
    fn spend(&self, model: &str, asks: UnloggedRequest) -> Spend {
        let UnloggedRequest { prompt, completion, searches } = asks;
        let usage = TokenUsage { input: prompt, output: completion, web_searches: searches, ..TokenUsage::default() };
        let cost = price::price(self.table, model, self.at_ms, &usage, None).cost;
        Spend { requests: 1, tokens: usage.counted_tokens(), cache_reads: 0, cost }
    }

    /// Returns the model that a hook asks: its own, where that has a price.
    fn model_of<'a>(&'a self, hook: &'a ModelHook) -> &'a str {
        if self.table.find(&hook.model, self.at_ms).is_some() { &hook.model } else { &self.model }
    }

    /// Returns what hooks spend that ask now, beside what is asked of the session's model, each model once.
    fn by_model<'a>(
        &self,
        own: Spend,
        hooks: impl Iterator<Item = &'a ModelHook>,
        asks: UnloggedRequest,
    ) -> Vec<(String, Spend)> {
        let mut all = vec![(self.model.clone(), own)];
        let asked = hooks.map(|hook| (self.model_of(hook).to_owned(), self.of_hook(hook, asks) * hook.count));
        for (model, spend) in asked {
            match all.iter_mut().find(|(known, _)| *known == model) {
                Some((_, known)) => *known += spend,
                None => all.push((model, spend)),
            }
        }
        all.into_iter().filter(|(_, spend)| spend.requests > 0).collect()
    }

    /// Returns what one request of a hook spends.
    fn of_hook(&self, hook: &ModelHook, asks: UnloggedRequest) -> Spend {
        self.spend(self.model_of(hook), asks)
    }
}

/// Prices the requests of an event that no transcript shows.
pub fn estimate_requests<'t>(
    state: &mut SessionState,
    event: &Event,
    found: &[(String, NewCharge)],
    table: impl Fn() -> &'t Table,
) {
    let own = is_of_the_clients_own(state, event);
    let unnamed = u64::from(is_unnamed(state, event)) + u64::from(is_asked_again(state, event));
    let is_any = is_any(&state.session, event) || !state.session.model_hooks.is_empty();
    if !is_any && unnamed == 0 && !own {
        return;
    }
    let (table, at_ms) = (table(), event.at.wall_ms);
    let prices = Prices { table, at_ms, model: stand_in::main_model(state, table, at_ms) };
    let is_new = |call: &&Call| state.call(&call.id).is_none_or(|known| known.state != CallState::Counted);
    let asked = calls(event).iter().filter(is_new);
    let of_tool = |call: &Call| Some(prices.spend(&prices.model, tools::unlogged_request(&call.tool)?));
    let of_calls = asked.filter_map(|call| Some((call.id.clone(), of_tool(call)?))).collect();
    let at_end = UnloggedRequest { prompt: HOOK.prompt.max(conversation(state, event, found)), ..HOOK };
    let asks = if event.ending().is_some() { at_end } else { HOOK };
    let own = if own { spend_of_own(state, table, at_ms) } else { Spend::default() };
    let own = prices.spend(&prices.model, asks) * unnamed + own;
    let asked_now = {
        let untold = hooks_that_ask::at_untold_events(state, event);
        prices.by_model(own, hooks(&state.session, event).chain(untold), asks)
    };
    let hooks_once_sent = prices.by_model(Spend::default(), hooks_that_ask::once_sent(&state.session, event), HOOK);
    let by_hook = |hook: &ModelHook| prices.of_hook(hook, HOOK);
    let (at_its_end, of_batch) = hooks_ahead(&state.session, event, &by_hook);
    let brought = event.kind.call().map_or(0, |call| call.brings_hooks);
    let of_call = at_its_end + prices.spend(&prices.model, HOOK) * brought;
    let dearest = state.session.model_hooks.iter().map(by_hook).fold(prices.spend(&prices.model, HOOK), Spend::max);
    let id = acting(state, event);
    if let (EventKind::ToolEnded(..), Some(run)) = (&event.kind, id.as_ref().and_then(|id| state.run_mut(id))) {
        let count = asked_now.iter().fold(0, |sum: u64, (_, spend)| sum.saturating_add(spend.requests));
        run.hooks_of_batch = run.hooks_of_batch.saturating_sub(count);
    }
    let beside = id.and_then(|id| state.run(&id)).map_or(0, |run| run.hooks_of_batch);
    let of_response = |agent: &Agent, asks| {
        let at_end = |hook: &ModelHook| prices.of_hook(hook, asks);
        let (calls, end) = hooks_of_response(&state.session, agent, &by_hook, &at_end);
        (calls, calls.max(end))
    };
    let other = asked_next(state, event);
    let (hooks_of_calls, hooks_of_response) =
        other.map_or_else(|| of_response(&event.agent, at_end), |other| of_response(&other, HOOK));
    let (_, hooks_of_others) = of_response(&of_type(""), HOOK);
    state.facts.unlogged_requests = UnloggedRequests {
        hooks: asked_now,
        hooks_once_sent,
        hooks_ahead: of_call + of_batch + dearest * beside,
        hooks_of_call: of_call.requests,
        hooks_of_response,
        hooks_of_calls,
        hooks_of_others,
        calls: of_calls,
        model: prices.model,
    };
}

/// Whether an agent is met for the first time that the client has made for itself, such as one that answers a side question. The one
/// that writes a compaction's summary is charged by that, but for a response that calls a tool in its place.
fn is_of_the_clients_own(state: &SessionState, event: &Event) -> bool {
    let Agent::Sub { id, .. } = &event.agent else { return false };
    let is_met = matches!(event.kind, EventKind::SubagentEnded(_) | EventKind::ToolRequested(_));
    let is_new = is_met && find_run::is_nameless(event) && state.run(id).is_none();
    let writes_summary =
        matches!(event.kind, EventKind::SubagentEnded(_)) && compactions::is_any_under_way(&state.session);
    is_new && !is_hook_agent(id) && !writes_summary
}

/// Returns what such an agent asks: the conversation of the main run once more.
fn spend_of_own(state: &SessionState, table: &Table, at_ms: i64) -> Spend {
    match state.session.main.as_deref().and_then(|main| state.run(main)).filter(|main| !main.recent.is_empty()) {
        Some(main) => estimate::next(main, &state.session.limits),
        None => first_request(state, table, at_ms, ""),
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
