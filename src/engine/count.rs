//! Counting: what an event adds to the meters, before anything is decided.

use std::collections::BTreeSet;

use crate::domain::bounds::CRONS;
use crate::domain::charge::{Record, RecordKind};
use crate::domain::event::{Background, Call, Event, Intent, Kind, Moment, Outcome};
use crate::domain::ingested::Recalled;
use crate::domain::repetition::{LOOPS, Seen};
use crate::domain::session::{Request, Run, Status};
use crate::engine::background;
use crate::engine::completion;
use crate::engine::credible;
use crate::engine::dialogs;
use crate::engine::estimate;
use crate::engine::ledger::{self, Adds};
use crate::engine::lifecycle;
use crate::engine::missing_usage;
use crate::engine::session_lifecycle;
use crate::engine::session_state::{Book, CallState, Ended, NewCharge};
use crate::engine::spawns;
use crate::engine::unlogged_requests;

/// Calls kept with their run where no end of a batch is seen.
const MOST_IN_FLIGHT: usize = 32;

/// Charges a response to its run, its session, and all that share in it.
pub fn charge(book: &mut Book, id: &str, new: &NewCharge, now: Moment) {
    if book.run(id).is_none() {
        lifecycle::open_history(book, id);
    }
    let charge = &new.charge;
    let (inherited, earlier) = (charge.inherited, charge.earlier);
    let (model, is_priced) = (&charge.model, !charge.unknown_model);
    let adds = Adds { model, is_priced, at_ms: charge.at_ms, spend: new.adds, inherited, earlier };
    let estimated = missing_usage::less_the_estimate(book, id, new);
    if charge.is_estimate() {
        return unlogged_requests::compacted(book, id, &Adds { spend: estimated.unwrap_or(new.adds), ..adds }, now);
    }
    ledger::add(book, id, &Adds { spend: estimated.unwrap_or(new.adds), ..adds }, now);
    if credible::is_doubted(charge) {
        return missing_usage::of_the_idle(book, id, now);
    }
    estimate::note_dearest(book, id, charge);
    let Some(run) = book.run_mut(id) else { return };
    run.extremes = (charge.context, run.extremes.1.max(charge.output));
    if new.adds.requests > 0 && estimated.is_none() {
        run.unpaid = (run.unpaid - 1).max(-1);
    }
    if let Some(last) = run.recent.last_mut().filter(|_| new.adds.requests == 0 && !charge.inherited) {
        // It has grown since it was first seen.
        *last = Request { spend: last.spend + new.adds, output: last.output.max(charge.output) };
        run.context = run.context.max(charge.context + charge.output);
    }
    if new.adds.requests > 0 && !charge.inherited {
        run.model.clone_from(&charge.model);
        run.recent.push(Request { spend: charge.spend, output: charge.output });
        let old = run.recent.len().saturating_sub(estimate::RECENT);
        run.recent.drain(..old);
        run.context = charge.context + charge.output;
        run.replay_price = new.replay_price;
    }
}

/// Counts what an event says about its own run: time, calls, ends.
pub fn count(book: &mut Book, run: &str, event: &Event) {
    tick(book, run, event);
    unlogged_requests::charge_hooks(book, run);
    if !matches!(event.kind, Kind::SessionStart { .. } | Kind::ToolRequested(_) | Kind::ToolEnded(..)) {
        missing_usage::compactions(book, run, event.at);
    }
    // An end that is told twice is one end: by the second the run is at work no more.
    let ends = event.ending().is_some_and(|ending| ending.again || book.run(run).is_some_and(|run| run.working));
    if ends {
        missing_usage::look(book, run, event);
        missing_usage::last_is_over(book, run);
    }
    match &event.kind {
        Kind::ToolRequested(call) => requested(book, run, call, event.at),
        Kind::ToolEnded(call, outcome) => ended(book, run, (call, outcome), event.at),
        Kind::BatchEnded(calls) => {
            batch(book, run, calls);
            missing_usage::look(book, run, event);
        }
        // Where nobody attends, nobody is waited for: a hook answers.
        Kind::PermissionRequested if event.attended => dialogs::announced(book, run, event.at),
        Kind::SubagentStarted => restart(book, run),
        Kind::SubagentEnded(_) => {
            dialogs::decline(book, run);
            book.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(run));
            lifecycle::complete(book, run);
        }
        Kind::Stopped { crons, .. } => {
            dialogs::decline(book, run);
            book.session.crons.clone_from(crons);
            book.session.crons.truncate(CRONS);
            book.session.schedules |= !crons.is_empty();
            lifecycle::complete(book, run);
        }
        Kind::SessionStart { source } => session_lifecycle::start(book, run, source),
        Kind::Prompt { .. } => {
            // A prompt is looked at anew: what still trips keeps it back, and what no longer does asks nobody.
            book.session.wants.clear();
            if let Some(run) = book.run_mut(run) {
                run.owes_ask = false;
                if run.tally.turns == 0 && run.tally.spent.requests == 0 {
                    credible::cut(book);
                }
            }
            book.pools.iter_mut().for_each(|pool| pool.wants.clear());
        }
        Kind::SessionEnded => session_lifecycle::end(book),
        Kind::Other(name) => note_unknown(book, name),
        _ => {}
    }
}

/// Moves the run's clock forward, and the session's with a main run's.
fn tick(book: &mut Book, id: &str, event: &Event) {
    book.session.last = event.at;
    session_lifecycle::go_on(book, &event.kind);
    if matches!(event.kind, Kind::ConfigChanged { .. } | Kind::Other(_)) {
        // It says nothing of the run's work: the next event that does counts the time, or nobody where that was idle.
        return;
    }
    let Some(run) = book.run_mut(id) else { return };
    let starts = matches!(event.kind, Kind::Prompt { .. } | Kind::SubagentStarted | Kind::ToolRequested(_));
    // A hook that prolongs a turn is no event: the time until the next end was work.
    let prolonged = event.ending().is_some_and(|ending| ending.again);
    if (run.working || prolonged) && !follows_idleness(run, &event.kind) {
        let passed = event.at.since(run.last);
        run.tally.duration_ms += passed;
        if run.is_main() {
            book.session.tally.duration_ms += passed;
        }
    }
    let Some(run) = book.run_mut(id) else { return };
    run.last = event.at;
    if !run.working && matches!(event.kind, Kind::Prompt { .. } | Kind::SubagentStarted) {
        run.unpaid = 0;
        completion::begin(run);
    }
    if starts && run.order.is_none() {
        lifecycle::go_on(run, event.at);
    }
}

/// Whether the time before an event was no work: nobody tells when a person interrupts, or a client dies.
fn follows_idleness(run: &Run, kind: &Kind) -> bool {
    match kind {
        Kind::Prompt { .. } => run.status != Status::Running,
        Kind::SessionStart { source } => source != "compact",
        Kind::SubagentStarted => true,
        Kind::SessionEnded => true,
        _ => false,
    }
}

fn requested(book: &mut Book, run: &str, call: &Call, at: Moment) {
    book.call_mut(run, &call.id).requested.get_or_insert(at);
    if book.run(run).is_some_and(|run| run.calls.len() > MOST_IN_FLIGHT) {
        book.file_calls(run);
    }
    if let Intent::Schedules { prompt } = call.intent {
        book.session.crons.push(prompt);
        book.session.crons.truncate(CRONS);
        book.session.schedules = true;
    }
    if let (Intent::Task { id }, Some(run)) = (&call.intent, book.run_mut(run)) {
        run.task = Some(id.clone());
    }
}

fn ended(book: &mut Book, run: &str, what: (&Call, &Outcome), at: Moment) {
    let (call, outcome) = what;
    let requested = book.call(&call.id).and_then(|record| record.requested);
    dialogs::take_off_wait(book, run, (call, outcome.duration_ms), at);
    count_call(book, run, call);
    if outcome.asked_nothing {
        unlogged_requests::take_back(book, run, &call.id);
    }
    let record = book.call_mut(run, &call.id);
    record.ended = if outcome.failed { Ended::Failed } else { Ended::Well };
    record.took_ms = outcome.duration_ms.filter(|took| outcome.failed || *took >= TELLING_MS);
    if book.run(run).is_some_and(|run| run.calls.len() > MOST_IN_FLIGHT) {
        book.file_calls(run);
    }
    match &outcome.agent {
        Some(agent) if agent.ended => {
            spawns::release_spawn(book, &call.id);
            lifecycle::ended_outside(book, &agent.id);
        }
        Some(agent) if matches!(call.intent, Intent::Message { .. }) => {
            lifecycle::wakes(book, (run, call), &agent.id, at)
        }
        Some(_) => {}
        None if matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. }) => {
            spawns::release_spawn(book, &call.id)
        }
        None => {}
    }
    if let Some(background) = &outcome.background {
        background::in_background(
            book,
            run,
            Background { began: requested.unwrap_or(at), told: at, ..background.clone() },
        );
    }
}

/// Counts a call once, unless Fusebox refused it.
pub fn count_call(book: &mut Book, run: &str, call: &Call) {
    count_once(book, run, &call.id);
}

fn count_once(book: &mut Book, run: &str, call: &str) {
    let record = book.call_mut(run, call);
    if matches!(record.state, CallState::Counted | CallState::Refused) {
        return;
    }
    record.state = CallState::Counted;
    book.session.tally.turns += 1;
    for above in &mut book.above {
        above.tally.turns += 1;
        above.turns_below += 1;
    }
    if let Some(run) = book.run_mut(run) {
        run.tally.turns += 1;
    }
    unlogged_requests::charge_call(book, run, call);
}

/// Counts what a run had done before the state knew it. Its waits are not known, so all its time was work.
pub fn recall(book: &mut Book, recalled: &Recalled, now: Moment) {
    book.session.tally.turns += recalled.earlier + recalled.before;
    book.session.earlier.turns += recalled.before;
    let Some(run) = book.run_mut(&recalled.run) else { return };
    if recalled.is_before && !run.is_main() {
        book.session.earlier.subagents += 1;
    } else if let Some((began_ms, last_ms)) = recalled.span_ms {
        let millis = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let mono_ms = now.mono_ms.saturating_sub(millis(began_ms, now.wall_ms));
        run.started = Moment { wall_ms: began_ms, mono_ms, ..now };
        run.tally.duration_ms = millis(began_ms, last_ms);
        if run.is_main() {
            book.session.tally.duration_ms += millis(began_ms, last_ms);
        }
    }
    for call in &recalled.calls {
        count_once(book, &recalled.run, call);
    }
    book.file_calls(&recalled.run);
}

/// A call that ends well in less than that has not waited.
const TELLING_MS: u64 = 500;

fn batch(book: &mut Book, run: &str, calls: &[Call]) {
    book.session.sees_batches = true;
    missing_usage::is_over(book, run);
    dialogs::batch_is_over(book, run, calls, book.session.last);
    let mut errors = BTreeSet::new();
    for call in calls {
        count_call(book, run, call);
        let record = book.call_mut(run, &call.id);
        record.is_over = true;
        let (state, ended, took_ms) = (record.state, record.ended, record.took_ms);
        if ended == Ended::No {
            spawns::release_spawn(book, &call.id);
            if call.prints.was_rejected {
                unlogged_requests::take_back(book, run, &call.id);
            }
        }
        if state == CallState::Counted {
            // The client's own rejections show only here, and are errors.
            let seen = Seen::of(call.prints, ended != Ended::Well, took_ms);
            let again = seen.and_then(|seen| seen.error).is_some_and(|error| !errors.insert(error));
            see(book, run, seen, again);
        }
    }
    // What is still open was asked about a batch before this one, or its call never came to an end.
    dialogs::decline(book, run);
    if let Some(run) = book.run_mut(run) {
        run.denials = if run.refusing { run.denials + 1 } else { 0 };
        run.refusing = false;
    }
    book.file_calls(run);
}

/// Takes a call into the run's memory of repetitions; the first sight of one may be told again once it is over.
fn see(book: &mut Book, run: &str, seen: Option<Seen>, again: bool) {
    let Some(run) = book.run_mut(run) else { return };
    match seen {
        Some(seen) => run.loops.push(seen, again),
        None => run.loops.pass(),
    }
    if run.loops.level() == 0 {
        run.warned.retain(|(name, _)| name != LOOPS);
    }
}

fn restart(book: &mut Book, id: &str) {
    dialogs::decline(book, id);
    if let Some(run) = book.run_mut(id) {
        run.settled = false;
        run.told = false;
    }
}

/// Writes down, once a session, that the client sent an event that this version does not know.
fn note_unknown(book: &mut Book, name: &str) {
    let key = format!("event:{name}");
    if book.session.says_first(&key) {
        book.records.push(Record {
            error: format!("the client sent an event that this version does not know, and it was let through: {name}"),
            event: Some(RecordKind::Notice),
            session: book.session.id.clone(),
            ..Record::default()
        });
    }
}
