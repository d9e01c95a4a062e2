//! Responses that are written nowhere: an agent can take its transcript away, and a client can be told to keep none.
//!
//! What is not on disk two batches later is charged at an estimate to everything that shares in it. Should the response come
//! after all, it takes the estimate's place, and what it cost more is added.

use crate::domain::event::{Call, Event, EventKind};
use crate::domain::model_hook::is_hook_agent;
use crate::domain::moment::Moment;
use crate::domain::session::Run;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::{Charge, ESTIMATES, NewCharge};
use crate::domain::spend::meters::Spend;
use crate::domain::spend::missing_usage::Growth;
use crate::engine::charging::ledger::{self, SpendChange};
use crate::engine::estimate;
use crate::engine::session_state::SessionState;
use crate::messages::notices;

/// How many responses of a run a client may be late with.
pub const LATE: i32 = 2;
/// How many bytes of a call's input are one token, at the least: four in prose, three in code, two in numbers.
const BYTES_A_TOKEN: u64 = 2;

/// Charges the responses of the acting run that are overdue at the end of a batch or of its work.
pub fn charge_overdue(state: &mut SessionState, id: &str, event: &Event) {
    let known = state.missing_usage_mut(id).1.sum.requests > 0;
    doubtful(state, id, event.at);
    let Some(run) = state.run_mut(id) else { return };
    let at_batch = matches!(event.kind, EventKind::BatchEnded(_));
    let is_hook = is_hook_agent(&run.id);
    // At the end of its work, what is not on disk may still be on its way, but not where nothing is written at all.
    let has_no_transcript = matches!(run.growth, Growth::Never | Growth::Gone);
    let is_sure = at_batch || has_no_transcript || known && run.growth == Growth::Before;
    if at_batch && run.growth == Growth::Now {
        run.growth = Growth::Before;
    }
    // A hook's own transcript is never written.
    let (unpaid, late) = (run.unpaid, if at_batch && !is_hook { LATE } else { 0 });
    // The response that ends an agent's work has no batch, and is not on disk either.
    let last = !at_batch && run.order.is_none();
    let is_of_words_alone = last && unpaid == 0 && !is_hook && !run.is_main() && run.growth == Growth::Gone;
    if !is_sure || unpaid <= late && !is_of_words_alone {
        return;
    }
    run.unpaid = late - i32::from(last);
    charge(state, id, u64::from((unpaid - late).unsigned_abs()) + u64::from(last), event.at);
}

/// Charges at a session's end what its main run was answered and nothing shows: by then all is on disk, unless the client keeps no
/// transcript.
pub fn charge_unkept(state: &mut SessionState, id: &str, now: Moment) {
    let is_unkept = |run: &&Run| matches!(run.growth, Growth::Never | Growth::Gone) && run.unpaid > 0;
    let Some(run) = state.run(id).filter(is_unkept) else { return };
    let count = u64::from(run.unpaid.unsigned_abs());
    charge(state, id, count, now);
    if let Some(run) = state.run_mut(id) {
        run.unpaid = 0;
    }
}

/// Charges the responses of a run that are doubted: no more than can have been given since its last batch, since an agent can
/// add rows without end.
pub fn doubtful(state: &mut SessionState, id: &str, now: Moment) {
    let Some(run) = state.run_mut(id).filter(|run| run.doubted > 0) else { return };
    let count = std::mem::take(&mut run.doubted).min(u64::from(LATE.unsigned_abs()) + 1);
    state.missing_usage_mut(id).1.doubted = true;
    charge(state, id, count, now);
}

/// Charges the doubted responses of a run that is not at work: no batch of it is to end.
pub fn of_the_idle(state: &mut SessionState, id: &str, now: Moment) {
    if state.run(id).is_some_and(|run| !run.working) {
        doubtful(state, id, now);
    }
}

/// Takes note that a run's transcript was read, and whether it `has_grown`.
pub fn note_read(state: &mut SessionState, id: &str, has_grown: bool) {
    note_growth(state, id, |run| run.growth.after_reading(has_grown));
}

/// Takes note that a subagent's transcript is not where it has to be. The main agent's client may keep none, or another one.
pub fn note_gone(state: &mut SessionState, id: &str) {
    note_growth(state, id, |run| if run.is_main() { run.growth } else { Growth::Gone });
}

fn note_growth(state: &mut SessionState, id: &str, growth: impl Fn(&Run) -> Growth) {
    let Some((before, after)) = state.run(id).map(|run| (run.growth, growth(run))) else { return };
    if before != after
        && let Some(run) = state.run_mut(id)
    {
        run.growth = after;
    }
}

/// Counts a response that is over, by an event that says so.
pub fn note_response_over(state: &mut SessionState, id: &str) {
    let Some(run) = state.run_mut(id) else { return };
    run.unpaid = (run.unpaid + 1).max(0);
    let late = u64::try_from(run.unpaid).unwrap_or(0);
    estimate::note_over(&mut run.counters, late, Spend::default());
    let inherited = state.session.inherited;
    estimate::note_over(&mut state.session.counters, late, inherited);
}

/// Counts a response that is over at the end of its batch: what its calls say, it has written, be it on disk or not.
pub fn note_batch_over(state: &mut SessionState, id: &str, calls: &[Call]) {
    let output = calls.iter().map(|call| call.input_bytes).sum::<u64>() / BYTES_A_TOKEN;
    if let Some(run) = state.run_mut(id) {
        run.hooks_of_batch = 0;
        if run.unpaid <= 0 {
            run.unpaid_output.clear();
        }
        run.unpaid_output.insert(0, output);
        run.unpaid_output.truncate(LATE.unsigned_abs() as usize + 1);
    }
    note_response_over(state, id);
}

/// Counts the response that ends an agent's turn among those that are over: a hook may prolong the turn. Those before it
/// may be late, too.
pub fn note_last_response_over(state: &mut SessionState, id: &str) {
    if state.run(id).is_some_and(|run| run.order.is_none()) {
        note_response_over(state, id);
    }
}

/// Charges so many responses of a run at an estimate.
fn charge(state: &mut SessionState, id: &str, count: u64, now: Moment) {
    let Some(run) = state.run(id) else { return };
    let most_written = run.unpaid_output.iter().copied().max().unwrap_or(0);
    let each = estimate::missing_usage(state, run).max(estimate::of_output(run, most_written));
    if (each.tokens, each.cost) == (0, Amount::ZERO) {
        return;
    }
    let (model, at_ms) = (estimate::model_of_missing_usage(state, run).to_owned(), now.wall_ms);
    let is_priced = state.session.knows_price(&model);
    let is_hook = is_hook_agent(&run.id);
    let path = run.position.as_ref().map_or(&state.session.position.path, |tail| &tail.path).clone();
    for _ in 0..count {
        let adds = SpendChange { model: &model, is_priced, at_ms, spend: each, inherited: false, earlier: false };
        ledger::add_spend(state, id, &adds, now);
        let (holder, missing_usage) = state.missing_usage_mut(id);
        missing_usage.sum += each;
        missing_usage.until_ms = at_ms;
        missing_usage.ever_charged = missing_usage.ever_charged.max(missing_usage.sum.requests - 1) + 1;
        let message = name(holder, missing_usage.ever_charged);
        let (run, session, model) = (id.to_owned(), state.session.id.clone(), model.clone());
        let charge = Charge { message, session, run, model, at_ms, spend: each, ..Charge::default() };
        state.effects.estimated.push(Charge { unknown_model: !is_priced, ..charge });
    }
    let (key, what) = match state.missing_usage_mut(id).1.doubted {
        true => ("doubted", notices::responses_doubted(path, each.cost, each.tokens)),
        false => ("unwritten", notices::responses_missing(path, each.cost, each.tokens)),
    };
    for session in state.sessions_mut().filter(|_| !is_hook) {
        if session.mark_notified(key) {
            session.notify_user(&what);
        }
    }
}

/// Takes note of a compaction by its event, which may come twice: its summary is written behind it.
pub fn summary_is_due(state: &mut SessionState, id: &str) {
    let due = &mut state.missing_usage_mut(id).1.compactions;
    *due = (*due + 1).min(1);
}

/// Takes note of a compaction's summary.
pub fn summary_is_there(state: &mut SessionState, id: &str) {
    let due = &mut state.missing_usage_mut(id).1.compactions;
    *due = (*due - 1).max(-1);
}

/// Takes note of a compaction that was charged before its summary: should that come after all, it takes the place.
pub fn summary_may_come(state: &mut SessionState, id: &str, charged: Spend) {
    state.missing_usage_mut(id).1.late_summaries += charged;
}

/// Whether the client has told of a summary that is not read yet.
pub fn is_summary_due(state: &mut SessionState, id: &str) -> bool {
    state.missing_usage_mut(id).1.compactions > 0
}

/// Charges a compaction whose summary is not on disk by an event that comes behind it.
pub fn compactions(state: &mut SessionState, id: &str, now: Moment) {
    let due = &mut state.missing_usage_mut(id).1.compactions;
    if *due > 0 {
        *due = 0;
        charge(state, id, 1, now);
    }
}

/// Returns what a response adds, less what it was taken for where it had been charged at an estimate.
pub fn less_the_estimate(state: &mut SessionState, id: &str, new: &NewCharge) -> Option<Spend> {
    if new.adds.requests == 0 || new.charge.inherited {
        return None;
    }
    let (_, missing_usage) = state.missing_usage_mut(id);
    let is_late_summary = new.charge.is_estimate() && missing_usage.late_summaries.requests > 0;
    let charged = match is_late_summary {
        true => &mut missing_usage.late_summaries,
        false if new.charge.at_ms > missing_usage.until_ms => return None,
        false => &mut missing_usage.sum,
    };
    if charged.requests == 0 {
        return None;
    }
    let each = charged.mean();
    *charged = charged.beyond(each);
    let adds = new.adds.beyond(each);
    // The estimate stands where it was charged, so that every sum over responses is what limits have counted.
    let before = new.charge.spend.beyond(new.adds);
    state.effects.estimated.push(Charge { spend: before + adds, covered: each, ..new.charge.clone() });
    Some(adds)
}

/// Returns the name under which an estimate stands among the responses.
fn name(holder: &str, number: u64) -> String {
    format!("{}{holder}:{number}", ESTIMATES[0])
}
