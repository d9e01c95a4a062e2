//! Requests to the model that no transcript shows: a web search, the summary of a page, a hook of type `prompt` or `agent`, a
//! compaction.
//!
//! They are charged at an estimate, to everything that shares in what their run spends: a compaction when its summary is read,
//! all others when they are asked for.

use std::collections::BTreeMap;

use crate::domain::bounds::of_model;
use crate::domain::call::Asked;
use crate::domain::charge::{Charge, ESTIMATES};
use crate::domain::event::{Event, Kind, Moment};
use crate::domain::meters::Spend;
use crate::domain::session::Tally;
use crate::engine::ledger::{self, Adds};
use crate::engine::missing_usage;
use crate::engine::session_state::Book;

/// Returns what the call that asks to run would make the client ask.
pub fn ahead(book: &Book, event: &Event) -> Spend {
    match &event.kind {
        Kind::ToolRequested(call) => of_call(book, &call.id),
        _ => Spend::default(),
    }
}

fn of_call(book: &Book, call: &str) -> Spend {
    book.hidden.calls.iter().find(|(id, _)| id == call).map(|(_, spend)| *spend).unwrap_or_default()
}

/// Charges what a call makes the client ask, once it is counted.
pub fn charge_call(book: &mut Book, run: &str, call: &str) {
    let spend = of_call(book, call);
    charge(book, run, call, spend);
    if spend.requests > 0 {
        let (model, at_ms) = (book.hidden.model.clone(), book.session.last.wall_ms);
        book.call_mut(run, call).hidden = Some(Asked { model, at_ms, spend });
    }
}

/// Takes back what was charged for a call for which the client has asked the model nothing.
pub fn take_back(book: &mut Book, run: &str, call: &str) {
    if book.call(call).is_none_or(|call| call.hidden.is_none()) {
        return;
    }
    let Some(Asked { model, at_ms, spend }) = book.call_mut(run, call).hidden.take() else { return };
    for session in std::iter::once(&mut book.session).chain(&mut book.above) {
        less(&mut session.tally, &mut session.models, (&model, spend));
    }
    if let Some(run) = book.run_mut(run) {
        less(&mut run.tally, &mut run.models, (&model, spend));
    }
    for pool in book.pools.iter_mut().filter(|pool| !pool.counted) {
        pool.take_back(&model, at_ms, spend);
    }
    // It stays on record, with nothing spent.
    let (message, session, run) = (name_of(call), book.session.id.clone(), run.to_owned());
    book.estimated.push(Charge { message, session, run, model, at_ms, ..Charge::default() });
}

fn less(tally: &mut Tally, models: &mut BTreeMap<String, Spend>, (model, spend): (&str, Spend)) {
    tally.spent = tally.spent.beyond(spend);
    tally.hidden = tally.hidden.beyond(spend);
    let of_model = of_model(models, model, true);
    *of_model = of_model.beyond(spend);
}

fn name_of(asked: &str) -> String {
    format!("{}{asked}", ESTIMATES[1])
}

/// Charges what the event's hooks ask: they run beside this one, whatever is answered.
pub fn charge_hooks(book: &mut Book, run: &str) {
    let spend = std::mem::take(&mut book.hidden.hooks);
    let number = book.session.tally.hidden.requests + 1;
    charge(book, run, &number.to_string(), spend);
}

fn charge(book: &mut Book, run: &str, name: &str, spend: Spend) {
    if spend.requests == 0 {
        return;
    }
    let (model, now) = (book.hidden.model.clone(), book.session.last);
    let at_ms = now.wall_ms;
    let adds = Adds { model: &model, is_priced: true, at_ms, spend, inherited: false, earlier: false };
    spread(book, run, &adds, now);
    let (message, session) = (name_of(name), book.session.id.clone());
    book.estimated.push(Charge { message, session, run: run.to_owned(), model, at_ms, spend, ..Charge::default() });
}

/// Charges what a compaction has asked, which its summary shows.
pub fn compacted(book: &mut Book, run: &str, adds: &Adds, now: Moment) {
    if !adds.inherited && !adds.earlier {
        missing_usage::summary_is_there(book, run);
    }
    spread(book, run, adds, now);
}

fn spread(book: &mut Book, run: &str, adds: &Adds, now: Moment) {
    ledger::spread(book, run, adds, now);
    if adds.inherited {
        return;
    }
    for session in std::iter::once(&mut book.session).chain(&mut book.above) {
        session.tally.hidden += adds.spend;
    }
    if let Some(run) = book.run_mut(run) {
        run.tally.hidden += adds.spend;
    }
}
