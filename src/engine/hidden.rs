//! Requests to the model that no transcript shows: a web search, the summary of a page, a hook of type `prompt` or `agent`.
//!
//! They are charged at an estimate when they are asked for, to everything that shares in what their run spends.

use crate::engine::book::Book;
use crate::engine::event::{Event, Kind};
use crate::engine::ledger::{self, Adds};
use crate::engine::meters::Spend;
use crate::engine::record::{Charge, ESTIMATES};

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
    ledger::spread(book, run, &adds, now);
    for session in std::iter::once(&mut book.session).chain(&mut book.above) {
        session.tally.hidden += spend;
    }
    if let Some(run) = book.run_mut(run) {
        run.tally.hidden += spend;
    }
    let (message, session) = (format!("{}{name}", ESTIMATES[1]), book.session.id.clone());
    book.estimated.push(Charge { message, session, run: run.to_owned(), model, at_ms, spend, ..Charge::default() });
}
