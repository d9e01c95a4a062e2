//! Responses that are written nowhere: an agent can take its transcript away, and a client can be told to keep none.
//!
//! What is not on disk two batches later is charged at an estimate to everything that shares in it. Should the response come
//! after all, it takes the estimate's place, and what it cost more is added.

use crate::domain::amount::Amount;
use crate::domain::charge::{Charge, ESTIMATES};
use crate::domain::event::{Event, Kind, Moment};
use crate::domain::meters::Spend;
use crate::domain::missing_usage::Growth;
use crate::domain::model_hook::is_hook_agent;
use crate::engine::estimate;
use crate::engine::ledger::{self, Adds};
use crate::engine::session_state::{Book, NewCharge};

/// How many responses of a run a client may be late with.
pub const LATE: i32 = 2;

/// Charges the responses of the acting run that are overdue at the end of a batch or of its work.
pub fn look(book: &mut Book, id: &str, event: &Event) {
    let known = book.unwritten_mut(id).1.sum.requests > 0;
    doubtful(book, id, event.at);
    let Some(run) = book.run_mut(id) else { return };
    let at_batch = matches!(event.kind, Kind::BatchEnded(_));
    let is_hook = is_hook_agent(&run.id);
    // At the end of its work, what is not on disk may still be on its way, but not where nothing is written at all.
    let is_sure = at_batch || run.growth == Growth::Never || known && run.growth == Growth::Before;
    if at_batch && run.growth == Growth::Now {
        run.growth = Growth::Before;
    }
    // A hook's own transcript is never written.
    let (unpaid, late) = (run.unpaid, if at_batch && !is_hook { LATE } else { 0 });
    if unpaid <= late || !is_sure {
        return;
    }
    // The response that ends an agent's work has no batch, and is not on disk either.
    let last = !at_batch && run.order.is_none();
    run.unpaid = late - i32::from(last);
    charge(book, id, (u64::from((unpaid - late).unsigned_abs()) + u64::from(last), event.at));
}

/// Charges the responses of a run that are doubted: no more than can have been given since its last batch, since an agent can
/// add rows without end.
pub fn doubtful(book: &mut Book, id: &str, now: Moment) {
    let Some(run) = book.run_mut(id).filter(|run| run.doubted > 0) else { return };
    let count = std::mem::take(&mut run.doubted).min(u64::from(LATE.unsigned_abs()) + 1);
    book.unwritten_mut(id).1.doubted = true;
    charge(book, id, (count, now));
}

/// Does so where the run is not at work: no batch of it is to end.
pub fn of_the_idle(book: &mut Book, id: &str, now: Moment) {
    if book.run(id).is_some_and(|run| !run.working) {
        doubtful(book, id, now);
    }
}

/// Counts a response that is over, by an event that says so.
pub fn is_over(book: &mut Book, id: &str) {
    let Some(run) = book.run_mut(id) else { return };
    run.unpaid = (run.unpaid + 1).max(0);
    let late = u64::try_from(run.unpaid).unwrap_or(0);
    estimate::note_over(&mut run.tally, (late, Spend::default()));
    let inherited = book.session.inherited;
    estimate::note_over(&mut book.session.tally, (late, inherited));
}

/// Counts the response that ends an agent's turn among those that are over: a hook may prolong the turn. Those before it
/// may be late, too.
pub fn last_is_over(book: &mut Book, id: &str) {
    if book.run(id).is_some_and(|run| run.order.is_none()) {
        is_over(book, id);
    }
}

/// Charges so many responses of a run at an estimate.
fn charge(book: &mut Book, id: &str, (count, now): (u64, Moment)) {
    let Some(run) = book.run(id) else { return };
    let each = estimate::unwritten(book, run);
    if (each.tokens, each.cost) == (0, Amount::ZERO) {
        return;
    }
    let (model, at_ms) = (estimate::unwritten_model(book, run).to_owned(), now.wall_ms);
    let is_priced = book.session.knows_price(&model);
    let is_hook = is_hook_agent(&run.id);
    let path = run.tail.as_ref().map_or(&book.session.tail.path, |tail| &tail.path).clone();
    for _ in 0..count {
        let adds = Adds { model: &model, is_priced, at_ms, spend: each, inherited: false, earlier: false };
        ledger::add(book, id, &adds, now);
        let (holder, unwritten) = book.unwritten_mut(id);
        unwritten.sum += each;
        unwritten.until_ms = at_ms;
        unwritten.made = unwritten.made.max(unwritten.sum.requests - 1) + 1;
        let message = name(holder, unwritten.made);
        let (run, session, model) = (id.to_owned(), book.session.id.clone(), model.clone());
        book.estimated.push(Charge { message, session, run, model, at_ms, spend: each, ..Charge::default() });
    }
    let (key, what) = match book.unwritten_mut(id).1.doubted {
        true => ("doubted", format!("responses in the transcript `{path}` say less than they can have used; they")),
        false => {
            let missing = "responses are missing in the transcript";
            ("unwritten", format!("{missing} `{path}`; until they are there they"))
        }
    };
    let what = format!("{what} are estimated, now at {} and {} tokens each", each.cost, each.tokens);
    let told = std::iter::once(&mut book.session).chain(&mut book.above).filter(|_| !is_hook);
    for session in told {
        if session.says_first(key) {
            session.tell(&what);
        }
    }
}

/// Takes note of a compaction by its event, which may come twice: its summary is written behind it.
pub fn summary_is_due(book: &mut Book, id: &str) {
    let due = &mut book.unwritten_mut(id).1.compactions;
    *due = (*due + 1).min(1);
}

/// Takes note of a compaction's summary.
pub fn summary_is_there(book: &mut Book, id: &str) {
    let due = &mut book.unwritten_mut(id).1.compactions;
    *due = (*due - 1).max(-1);
}

/// Charges a compaction whose summary is not on disk by an event that comes behind it.
pub fn compactions(book: &mut Book, id: &str, now: Moment) {
    let due = &mut book.unwritten_mut(id).1.compactions;
    if *due > 0 {
        *due = 0;
        charge(book, id, (1, now));
    }
}

/// Returns what a response adds, less what it was taken for where it had been charged at an estimate.
pub fn less_the_estimate(book: &mut Book, id: &str, new: &NewCharge) -> Option<Spend> {
    if new.adds.requests == 0 || new.charge.inherited {
        return None;
    }
    let (_, unwritten) = book.unwritten_mut(id);
    if unwritten.sum.requests == 0 || new.charge.at_ms > unwritten.until_ms {
        return None;
    }
    let each = unwritten.sum.mean();
    unwritten.sum = unwritten.sum.beyond(each);
    let adds = new.adds.beyond(each);
    // The estimate stands where it was charged, so that every sum over responses is what limits have counted.
    let before = new.charge.spend.beyond(new.adds);
    book.estimated.push(Charge { spend: before + adds, covered: each, ..new.charge.clone() });
    Some(adds)
}

/// Returns the name under which an estimate stands among the responses.
fn name(holder: &str, number: u64) -> String {
    format!("{}{holder}:{number}", ESTIMATES[0])
}
