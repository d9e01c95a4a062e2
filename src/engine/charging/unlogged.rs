//! Requests to the model that no transcript shows: a web search, the summary of a page, a hook of type `prompt` or `agent`, a
//! compaction.
//!
//! They are charged at an estimate, to everything that shares in what their run spends: a compaction when its summary is read,
//! all others when they are asked for.

use crate::domain::call::Asked;
use crate::domain::limit_set::Models;
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::{Charge, ESTIMATES};
use crate::domain::spend::meters::{Spend, Unlogged};
use crate::domain::spend::reservation::Reservation;
use crate::domain::usage::Activity;
use crate::engine::agents::agents_at_work;
use crate::engine::charging;
use crate::engine::charging::compactions;
use crate::engine::charging::credible;
use crate::engine::charging::ledger::{self, SpendChange};
use crate::engine::estimate;
use crate::engine::session_state::SessionState;

/// The most requests that a client's total is taken for at once: more than one of its commands asks without showing it.
const MOST_AT_ONCE: u64 = 10;

/// Returns what the client is expected to ask of some models: for the call that asks to run, and by hooks.
pub fn expected(state: &SessionState, activity: Activity, models: Option<&Models>) -> Unlogged {
    let asked = &state.facts.unlogged_requests;
    if !Models::count(models, &asked.model) {
        return Unlogged::default();
    }
    let (of_call, hooks_ahead) = match activity {
        Activity::Call(call) => (of_call(state, &call.id), asked.hooks_ahead),
        _ => (Spend::default(), asked.hooks_once_sent.iter().map(|(_, spend)| *spend).sum()),
    };
    Unlogged {
        of_call,
        hooks_ahead,
        hooks_of_response: asked.hooks_of_response,
        hooks_of_calls: asked.hooks_of_calls,
        hooks_of_others: asked.hooks_of_others,
    }
}

fn of_call(state: &SessionState, call: &str) -> Spend {
    state.facts.unlogged_requests.calls.iter().find(|(id, _)| id == call).map(|(_, spend)| *spend).unwrap_or_default()
}

/// Charges what a call makes the client ask, once it is counted.
pub fn charge_call(state: &mut SessionState, run: &str, call: &str) {
    let spend = of_call(state, call);
    let model = state.facts.unlogged_requests.model.clone();
    charge(state, run, call, model, spend);
    if spend.requests > 0 {
        let (model, at_ms) = (state.facts.unlogged_requests.model.clone(), state.session.last.wall_ms);
        state.call_mut(run, call).unlogged = Some(Asked { model, at_ms, spend });
    }
    let (hooks, sees_batches) = (state.facts.unlogged_requests.hooks_of_call, state.session.sees_batches);
    if let Some(run) = state.run_mut(run).filter(|run| hooks > 0 && !run.is_blind(sees_batches)) {
        run.hooks_of_batch = run.hooks_of_batch.saturating_add(hooks);
    }
}

/// Takes back what was charged for a call for which the client has asked the model nothing.
pub fn take_back(state: &mut SessionState, run: &str, call: &str) {
    if state.call(call).is_none_or(|call| call.unlogged.is_none()) {
        return;
    }
    let Some(Asked { model, at_ms, spend }) = state.call_mut(run, call).unlogged.take() else { return };
    let (message, session) = (name_of(call), state.session.id.clone());
    let taken = change(&model, at_ms, spend);
    state.scopes_mut(run).for_each(|mut scope| scope.take_back(&session, &taken));
    // It stays on record, with nothing spent.
    let run = run.to_owned();
    state.effects.estimated.push(Charge { message, session, run, model, at_ms, ..Charge::default() });
}

fn name_of(asked: &str) -> String {
    format!("{}{asked}", ESTIMATES[1])
}

/// Charges what the event's hooks ask: they run beside this one, whatever is answered.
pub fn charge_hooks(state: &mut SessionState, run: &str) {
    let hooks = std::mem::take(&mut state.facts.unlogged_requests.hooks);
    charge_all(state, run, hooks);
}

/// Charges what hooks ask once a prompt is sent that nothing blocks.
pub fn charge_hooks_of_sent(state: &mut SessionState, run: &str) {
    let hooks = std::mem::take(&mut state.facts.unlogged_requests.hooks_once_sent);
    charge_all(state, run, hooks);
}

fn charge_all(state: &mut SessionState, run: &str, hooks: Vec<(String, Spend)>) {
    for (model, spend) in hooks {
        let name = state.session.name_estimate();
        charge(state, run, &name, model, spend);
    }
}

/// Charges a request at what was held for it, and returns that: its client has ended before the answer, or the answer takes too
/// long.
pub fn charge_lost(state: &mut SessionState, run: &str, reservation: &Reservation) -> Spend {
    let name = format!("lost:{}", state.session.name_estimate());
    // Of a first request nothing was known when it was asked.
    let is_unknown = (reservation.spend.tokens, reservation.spend.cost) == (0, Amount::ZERO);
    let spend = if is_unknown { estimate::first(state) } else { reservation.spend };
    charge(state, run, &name, reservation.model.clone(), spend);
    spend
}

/// Charges what a session's clients that are gone have asked and nobody has seen answered.
pub fn charge_all_lost(state: &mut SessionState, is_gone: impl Fn(&Reservation) -> bool) {
    let is_lost = |reservation: &&Reservation| reservation.session == state.session.id && is_gone(reservation);
    let lost: Vec<Reservation> = state.session.reservations.iter().filter(is_lost).cloned().collect();
    for reservation in lost {
        // An agent that was asked for and never began has asked for nothing: somebody has said No.
        let is_of_none = agents_at_work::is_awaited(state, &reservation.holder);
        state.release(&reservation.holder);
        if is_of_none {
            continue;
        }
        // A run whose end was seen has nothing in flight: what is still held for it was answered under another name.
        let own = state.run(&reservation.holder).map(|run| (run.id.clone(), run.has_ended_by_itself()));
        let own = own.or_else(|| Some((state.session.main.clone()?, false)));
        let Some((run, false)) = own else { continue };
        charge_lost(state, &run, &reservation);
    }
}

/// Charges what a client has asked that ends without an answer, but for a request that has failed.
pub fn charge_unanswered(state: &mut SessionState) {
    let failed = state.session.main.clone().filter(|_| state.facts.last_request_failed);
    charge_all_lost(state, |reservation| failed.as_ref() != Some(&reservation.holder));
}

/// Has the total of a client that an agent started begin at zero: nobody else's spend is in it.
pub fn begin_total(session: &mut Session) {
    if session.outer.is_some() && session.own_spend() == Spend::default() {
        session.client_start.compared = Some((Amount::ZERO, Amount::ZERO));
    }
}

/// Charges by how much a client's own total has grown more than what was counted since they were compared last: some commands
/// (`/recap`, `/insights`) ask the model without a prompt or a row, and an answer without content has no row either. The first total
/// of a conversation that was taken up tells of what came before, and is charged by nothing.
///
/// Only the end of a client and the next one's start are told behind its last row. A row that an agent writes can but raise what it is
/// charged.
pub fn charge_beyond_total(state: &mut SessionState, run: &str) {
    let session = &state.session;
    let (Some(total), false, 0) =
        (session.client_cost.map(Amount), credible::counts_otherwise(session), session.unread())
    else {
        return;
    };
    let is_below = session.outer.is_some();
    let own = session.own_spend().cost;
    let (total_before, own_before) = session.client_start.compared.unwrap_or((total, own));
    // An older client begins its total anew.
    let grown = if total < total_before { total } else { total.minus(total_before) };
    let missing = grown.minus(own.minus(own_before));
    if missing > Amount::ZERO {
        let (model, each) = state.run(run).map_or_else(Default::default, |run| {
            (estimate::model_of(state, run).to_owned(), estimate::missing_usage(state, run).max(run.counters.dearest))
        });
        let name = format!("total:{}", state.session.name_estimate());
        // Responses that events have told of and no row shows are what is missing. Else a person's command that takes a conversation
        // up asks once, and what an agent starts may ask any number of times.
        let told = state.run_mut(run).map_or(0, |run| std::mem::take(&mut run.unpaid).max(0).unsigned_abs());
        let requests = match u64::from(told) {
            0 if is_below => times(missing, each.cost),
            told => told.max(1),
        };
        let tokens = each.tokens.saturating_mul(requests);
        charge(state, run, &name, model, Spend { requests, tokens, cost: missing, ..Spend::default() });
    }
    state.session.client_start.compared = Some((total, own + missing));
}

/// Charges a run what the client's total shows and nothing else.
pub fn charge_told(state: &mut SessionState, run: &str, spend: Spend) {
    let model = state.run(run).map(|run| estimate::model_of(state, run).to_owned()).unwrap_or_default();
    let name = format!("total:{}", state.session.name_estimate());
    charge(state, run, &name, model, spend);
}

/// How many requests have cost so much, where each is expected to cost `each`.
fn times(cost: Amount, each: Amount) -> u64 {
    cost.0.checked_div(each.0).unwrap_or(0).clamp(1, MOST_AT_ONCE)
}

fn change(model: &str, at_ms: i64, spend: Spend) -> SpendChange<'_> {
    SpendChange { model, is_priced: true, at_ms, spend, inherited: false, earlier: false }
}

fn charge(state: &mut SessionState, run: &str, name: &str, model: String, spend: Spend) {
    if spend.requests == 0 {
        return;
    }
    let now = state.session.last;
    let at_ms = now.wall_ms;
    spread(state, run, &change(&model, at_ms, spend), now);
    let (message, session) = (name_of(name), state.session.id.clone());
    state.effects.estimated.push(Charge {
        message,
        session,
        run: run.to_owned(),
        model,
        at_ms,
        spend,
        ..Charge::default()
    });
}

/// Charges what a compaction has asked, which its summary shows.
pub fn compacted(state: &mut SessionState, run: &str, adds: &SpendChange, now: Moment) {
    if !adds.inherited && !adds.earlier {
        charging::missing::summary_is_there(state, run);
        compactions::charged(state, run);
    }
    spread(state, run, adds, now);
}

fn spread(state: &mut SessionState, run: &str, adds: &SpendChange, now: Moment) {
    ledger::add_unreserved_spend(state, run, adds, now);
    if adds.inherited {
        return;
    }
    for mut scope in state.scopes_mut(run) {
        if let Some(counters) = scope.counters() {
            counters.unlogged += adds.spend;
        }
    }
}
