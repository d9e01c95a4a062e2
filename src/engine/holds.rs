//! Calls and requests that were held: until a rate had a slot for them, or a person let a paused run go on. That time is no work of the
//! agent's, and is counted by itself.

use crate::domain::bounds::HOLDERS;
use crate::domain::call::{CallRecord, CallState};
use crate::domain::event::{Event, EventKind};
use crate::domain::ingested::Ingested;
use crate::domain::moment::Moment;
use crate::domain::process::Process;
use crate::domain::record::Record;
use crate::domain::session::{Hold, Run};
use crate::domain::text::duration;
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::lifecycle;
use crate::engine::session_state::SessionState;
use crate::messages::next_step::NextStep;
use crate::messages::notices;

/// Leaves the time that an event was held out of its run's time, as far as nothing else of the run has happened in it.
pub fn exclude_held_time(state: &mut SessionState, id: &str, event: &Event, ingested: &Ingested) {
    let held_ms = ingested.held_ms;
    let Some(run) = state.run_mut(id).filter(|_| held_ms > 0) else { return };
    shift(run, event.at, held_ms);
    run.counters.held += 1;
    run.counters.held_ms += held_ms;
    // Of many the first is enough. What is said of a pause is said where it ends.
    if run.counters.held == 1 && !ingested.is_again {
        let words = format!("{} was held for {}, until the rate had a slot", named(event), duration::to_pass(held_ms));
        log(state, id, words);
    }
}

fn shift_above(state: &mut SessionState, id: &str, at: Moment, held_ms: u64) {
    let above = |run| state.above_run(run).map(str::to_owned).collect();
    let above: Vec<String> = state.run(id).map(above).unwrap_or_default();
    for id in above {
        if let Some(run) = state.run_mut(&id) {
            shift(run, at, held_ms);
        }
    }
}

fn shift(run: &mut Run, at: Moment, held_ms: u64) {
    let idle = held_ms.min(at.since(run.last));
    let wall_ms = run.last.wall_ms.saturating_add_unsigned(idle);
    run.last = Moment { wall_ms, mono_ms: run.last.mono_ms.saturating_add(idle), ..run.last };
}

/// Leaves the time that a run was held, whose order is lifted now, out of its time and that of the runs that waited for it: whichever event
/// comes next, that time was no work.
pub fn exclude_time_until_lifted(state: &mut SessionState, id: &str, at: Moment) {
    let order = state.run(id).and_then(|run| run.order.as_ref());
    let Some(hold) = order.filter(|order| order.is_holding()).and_then(|order| order.hold) else { return };
    let held_ms = at.since(hold.since);
    if let Some(run) = state.run_mut(id) {
        shift(run, at, held_ms);
    }
    shift_above(state, id, at, held_ms);
}

/// Begins to hold a paused run's call or request, for so many milliseconds at most. It is not refused yet: a refusal that was counted for it is
/// taken back.
pub fn begin_hold(state: &mut SessionState, id: &str, event: &Event, most_ms: u64, holder: Option<Process>) {
    if let EventKind::ToolRequested(call) = &event.kind {
        state.call_mut(id, &call.id).state = CallState::Unseen;
    }
    let Some(run) = state.run_mut(id) else { return };
    run.refused -= u64::from(matches!(event.kind, EventKind::ToolRequested(_))).min(run.refused);
    let short = id.get(..8).unwrap_or(id).to_owned();
    if let Some(order) = &mut run.order {
        let new = Hold { since: event.at, ..Hold::default() };
        order.hold.get_or_insert(new).is_of_request = matches!(event.kind, EventKind::BatchEnded(_));
        if order.holders.len() < HOLDERS {
            order.holders.extend(holder);
        }
    }
    let most = duration::to_pass(most_ms);
    log(state, id, format!("{} is held for {most} at most: `fusebox resume {short}` lets it go on", named(event)));
}

/// Ends a hold whose hook was killed: the agent has gone on without an answer.
pub fn end_unanswered_hold(state: &mut SessionState, id: &str, event: &Event, ingested: &Ingested) {
    let of_request = state.run(id).and_then(|run| run.order.as_ref()?.hold).is_some_and(|hold| hold.is_of_request);
    let is_open = |call: &CallRecord| call.requested.is_some() && call.state == CallState::Unseen;
    let (went_on, is_call) = match &event.kind {
        EventKind::ToolRequested(_) => (of_request && !ingested.is_again, false),
        EventKind::ToolEnded(call, _) => {
            let is_call = state.call(&call.id).is_some_and(is_open);
            (of_request || is_call, is_call)
        }
        _ => (false, false),
    };
    let Some(run) = state.run_mut(id).filter(|_| went_on) else { return };
    let kind = run.agent_type.clone();
    let Some(hold) = run.order.as_mut().and_then(|order| order.hold.as_mut()) else { return };
    hold.is_over = true;
    if is_call {
        let what = notices::calls_unasked("1 tool call", kind, NextStep::FailClosed);
        state.session.notify_user(&what);
    }
}

/// Ends the hold of a run whose hooks are gone without an answer.
pub fn end_abandoned_hold(state: &mut SessionState, id: &str) {
    if let Some(hold) = state.run_mut(id).and_then(|run| run.order.as_mut()?.hold.as_mut()) {
        hold.is_over = true;
    }
    log(state, id, "what was held is held no more: its hook has ended without an answer".to_owned());
}

/// Counts nothing of an event that was counted before it was held, but that its run is at work again where it may be.
pub fn count_again(state: &mut SessionState, id: &str, event: &Event) {
    state.session.last = event.at.or_later(state.session.last);
    let Some(run) = state.run_mut(id) else { return };
    run.last = event.at.or_later(run.last);
    if run.order.is_none() {
        lifecycle::go_on(run, event.at);
    }
}

/// Ends a hold that was answered, and logs how; the clocks of those that waited for its agent have stood still as well.
pub fn end_hold(state: &mut SessionState, id: &str, event: &Event, verdict: &Verdict, held_ms: u64) {
    shift_above(state, id, event.at, held_ms);
    if let Some(hold) = state.run_mut(id).and_then(|run| run.order.as_mut()?.hold.as_mut()) {
        hold.is_over = true;
    }
    let became = if verdict.decision < Decision::Deny { "goes on" } else { "is refused" };
    log(state, id, format!("{} {became} after a hold of {}", named(event), duration::to_pass(held_ms)));
}

fn named(event: &Event) -> String {
    match &event.kind {
        EventKind::ToolRequested(call) => format!("a call of {}", call.tool),
        _ => "a request".to_owned(),
    }
}

fn log(state: &mut SessionState, id: &str, error: String) {
    let Some(run) = state.run(id) else { return };
    let record = Record {
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        run: id.to_owned(),
        ..Record::notice(&state.session.id, error)
    };
    state.effects.log_records.push(record);
}
