//! Counting: what an event adds to the meters, before anything is decided.

use std::collections::BTreeMap;

use crate::engine::book::{Book, CallState, Ended, NewCharge};
use crate::engine::ending;
use crate::engine::estimate;
use crate::engine::event::{Call, Event, Intent, Kind, Moment, Outcome, Prints};
use crate::engine::loops::{LOOPS, Seen};
use crate::engine::meters::Spend;
use crate::engine::record::{Record, RecordKind};
use crate::engine::runs;
use crate::engine::session::{MAIN, Request, Run, Status};
use crate::engine::step::Recalled;
use crate::engine::unwritten;

/// Gaps between asking and answering shorter than this are the client's own work, not a wait for a person.
const SHORTEST_WAIT_MS: u64 = 500;
/// A reservation whose response never came stops counting after this.
pub const RESERVE_LIVES_MS: u64 = 600_000;
/// Calls kept with their run where no end of a batch is seen.
const MOST_IN_FLIGHT: usize = 32;

/// What is added to the sums of a run and all that share in it.
#[derive(Clone, Copy)]
pub struct Adds<'a> {
    /// The model it was spent on.
    pub model: &'a str,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// How much.
    pub spend: Spend,
    /// Whether another session was billed for it.
    pub inherited: bool,
}

/// Charges a response to its run, its session, and all that share in it.
pub fn charge(book: &mut Book, id: &str, new: &NewCharge, now: Moment) {
    if book.run(id).is_none() {
        open_history(book, id);
    }
    let charge = &new.charge;
    let adds = Adds { model: &charge.model, at_ms: charge.at_ms, spend: new.adds, inherited: charge.inherited };
    let estimated = unwritten::less_the_estimate(book, id, new);
    add(book, id, &Adds { spend: estimated.unwrap_or(new.adds), ..adds }, now);
    let Some(run) = book.run_mut(id) else { return };
    run.extremes = (charge.context, run.extremes.1.max(charge.output));
    if new.adds.requests > 0 && estimated.is_none() {
        run.unpaid = (run.unpaid - 1).max(-1);
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

/// Adds what was spent to a run, to its session, and, where that was billed for it, to all that share in it.
pub fn add(book: &mut Book, id: &str, adds: &Adds, now: Moment) {
    let of = |models: &mut BTreeMap<String, Spend>| *models.entry(adds.model.to_owned()).or_default() += adds.spend;
    book.session.tally.spent += adds.spend;
    of(&mut book.session.models);
    if adds.inherited {
        book.session.inherited += adds.spend;
    } else {
        add_to_others(book, adds, now);
    }
    if adds.spend.requests > 0 {
        book.settle(id);
    }
    if let Some(run) = book.run_mut(id) {
        run.tally.spent += adds.spend;
        of(&mut run.models);
    }
}

/// Adds what a session was billed for to the session that started it, and to the user's and the project's budgets.
fn add_to_others(book: &mut Book, adds: &Adds, now: Moment) {
    if let Some(outer) = &mut book.outer {
        outer.tally.spent += adds.spend;
        *outer.models.entry(adds.model.to_owned()).or_default() += adds.spend;
    }
    for pool in &mut book.pools {
        if !pool.counted {
            pool.charge(adds.model, adds.at_ms, adds.spend);
        }
    }
    if adds.spend.requests > 0 {
        book.note_request(adds.model, (adds.at_ms, now));
    }
}

/// Returns the id of the run that holds what was spent before the first prompt seen: a resumed or forked session's history.
pub fn history_of(session: &str) -> String {
    format!("{session}:before")
}

fn open_history(book: &mut Book, id: &str) {
    let at = book.session.started;
    let run = Run {
        id: id.to_owned(),
        session: book.session.id.clone(),
        agent_type: MAIN.to_owned(),
        status: Status::Completed,
        settled: true,
        started: at,
        last: at,
        ..Run::default()
    };
    book.open_run(run);
}

/// Counts what an event says about its own run: time, calls, ends.
pub fn count(book: &mut Book, run: &str, event: &Event) {
    tick(book, run, event);
    if matches!(event.kind, Kind::SubagentEnded(_) | Kind::Stopped { .. }) {
        unwritten::look(book, run, event);
    }
    match &event.kind {
        Kind::ToolRequested(call) => requested(book, run, call, event.at),
        Kind::ToolEnded(call, outcome) => ended(book, run, (call, outcome), event.at),
        Kind::BatchEnded(calls) => {
            batch(book, run, calls);
            unwritten::look(book, run, event);
        }
        Kind::SubagentStarted => restart(book, run),
        Kind::SubagentEnded(_) => end(book, run),
        Kind::Stopped { crons, .. } => {
            book.session.crons.clone_from(crons);
            end(book, run);
        }
        Kind::SessionStart { source } => start_session(book, source),
        Kind::Prompt { .. } => {
            // A prompt is looked at anew: what still trips keeps it back, and what no longer does asks nobody.
            book.session.wants.clear();
            book.pools.iter_mut().for_each(|pool| pool.wants.clear());
        }
        Kind::SessionEnded => end_session(book),
        Kind::Other(name) => note_unknown(book, name),
        _ => {}
    }
}

/// Moves the run's clock forward, and the session's with a main run's.
fn tick(book: &mut Book, id: &str, event: &Event) {
    book.session.last = event.at;
    if book.session.status == Status::Orphaned {
        // An event is the proof that its client lives.
        book.session.status = Status::Running;
    }
    let Some(run) = book.run_mut(id) else { return };
    let starts = matches!(event.kind, Kind::Prompt { .. } | Kind::SubagentStarted | Kind::ToolRequested(_));
    if run.working && !follows_idleness(run, &event.kind) {
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
        ending::begin(run);
    }
    if starts && run.order.is_none() {
        runs::go_on(run, event.at);
    }
}

/// Whether the time before an event was no work: nobody tells when a person interrupts, or a client dies.
fn follows_idleness(run: &Run, kind: &Kind) -> bool {
    match kind {
        Kind::Prompt { .. } => run.status != Status::Running,
        Kind::SessionStart { source } => source != "compact",
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
    }
    if let (Intent::Task { id }, Some(run)) = (&call.intent, book.run_mut(run)) {
        run.task = Some(id.clone());
    }
}

fn ended(book: &mut Book, run: &str, what: (&Call, &Outcome), at: Moment) {
    let (call, outcome) = what;
    if let Some(at_request) = book.call(&call.id).and_then(|record| record.requested) {
        take_off_wait(book, run, (at_request, at), outcome.duration_ms);
    }
    count_call(book, run, call);
    book.call_mut(run, &call.id).ended = if outcome.failed { Ended::Failed } else { Ended::Well };
    if book.run(run).is_some_and(|run| run.calls.len() > MOST_IN_FLIGHT) {
        book.file_calls(run);
    }
    match &outcome.agent {
        Some(agent) if agent.ended => {
            release_spawn(book, &call.id);
            runs::ended_outside(book, &agent.id);
        }
        Some(_) => {}
        None if matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. }) => release_spawn(book, &call.id),
        None => {}
    }
    if let (Some(background), Some(run)) = (&outcome.background, book.run_mut(run)) {
        run.background.push(background.clone());
    }
}

/// Lets go of what a spawn had taken: its agent has ended, or never came.
pub fn release_spawn(book: &mut Book, call: &str) {
    book.session.spawns.retain(|spawn| spawn.call != call);
    book.release(call);
}

/// Takes the wait for a dialog off the clock: from the request to the end, less the call's own duration.
fn take_off_wait(book: &mut Book, id: &str, span: (Moment, Moment), duration_ms: Option<u64>) {
    let (from, to) = span;
    let Some(ran) = duration_ms else { return };
    let Some(run) = book.run_mut(id) else { return };
    let until = to.mono_ms.saturating_sub(ran);
    let wait = until.saturating_sub(from.mono_ms.max(run.waited_until));
    if from.boot != to.boot || wait < SHORTEST_WAIT_MS {
        return;
    }
    run.waited_until = until;
    run.tally.duration_ms = run.tally.duration_ms.saturating_sub(wait);
    if run.is_main() {
        book.session.tally.duration_ms = book.session.tally.duration_ms.saturating_sub(wait);
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
    if let Some(outer) = &mut book.outer {
        outer.tally.turns += 1;
    }
    if let Some(run) = book.run_mut(run) {
        run.tally.turns += 1;
    }
}

/// Counts what a run had done before the state knew it. Its waits are not known, so all its time was work.
pub fn recall(book: &mut Book, recalled: &Recalled, now: Moment) {
    book.session.tally.turns += recalled.earlier;
    let Some(run) = book.run_mut(&recalled.run) else { return };
    if let Some((began_ms, last_ms)) = recalled.span_ms {
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

/// By then the transcript says who answered a dialog.
const KNOWN_AFTER_MS: u64 = 5_000;

fn batch(book: &mut Book, run: &str, calls: &[Call]) {
    book.session.sees_batches = true;
    if let Some(run) = book.run_mut(run) {
        run.unpaid = (run.unpaid + 1).max(0);
    }
    let now = book.session.last;
    book.session.asks.retain(|ask| !ask.granted || now.since(ask.granted_at) < KNOWN_AFTER_MS);
    let mut errors = Vec::new();
    for call in calls {
        if let Some(at) = book.session.asks.iter().position(|ask| ask.tool_use_id == call.id && !ask.granted) {
            // The dialog ended without the call running: that was a No.
            let ask = book.session.asks.remove(at);
            book.call_mut(run, &call.id).state = CallState::Refused;
            if let Some(run) = book.run_mut(run) {
                run.declined.push(ask.finding.limit);
            }
        }
        count_call(book, run, call);
        let record = book.call_mut(run, &call.id);
        record.is_over = true;
        let (state, ended) = (record.state, record.ended);
        if ended == Ended::No {
            release_spawn(book, &call.id);
        }
        if state == CallState::Counted && call.prints != Prints::default() {
            // The client's own rejections show only here, and are errors.
            let error = (ended != Ended::Well).then_some(call.prints.error);
            let again = error.is_some() && errors.contains(&error);
            errors.push(error);
            see(book, run, Seen { call: call.prints.all, error }, again);
        }
    }
    if let Some(run) = book.run_mut(run) {
        run.denials = if run.refusing { run.denials + 1 } else { 0 };
        run.refusing = false;
    }
    book.file_calls(run);
}

/// Takes a call into the run's memory of repetitions; the first sight of one may be told again once it is over.
fn see(book: &mut Book, run: &str, seen: Seen, again: bool) {
    let Some(run) = book.run_mut(run) else { return };
    run.loops.push(seen, again);
    if run.loops.level() == 0 {
        run.warned.retain(|(name, _)| name != LOOPS);
    }
}

fn restart(book: &mut Book, id: &str) {
    if let Some(run) = book.run_mut(id) {
        run.settled = false;
        run.told = false;
    }
}

/// Ends a run's stretch. What is reserved for its last response stays until that is charged: it is not on disk yet.
fn end(book: &mut Book, id: &str) {
    if let Some(run) = book.run_mut(id) {
        runs::end(run, Status::Completed);
    }
}

/// Writes down, once a session, that the client sent an event that this version does not know.
fn note_unknown(book: &mut Book, name: &str) {
    let key = format!("event:{name}");
    if !book.session.said.contains(&key) {
        book.session.said.push(key);
        book.records.push(Record {
            error: format!("the client sent an event that this version does not know, and it was let through: {name}"),
            event: Some(RecordKind::Notice),
            session: book.session.id.clone(),
            ..Record::default()
        });
    }
}

/// Takes note of a client's start. The dialogs of the one before it are gone with it; a compaction closes none.
fn start_session(book: &mut Book, source: &str) {
    if source != "compact" {
        book.session.asks.clear();
    }
    if book.session.status == Status::Completed {
        book.session.status = Status::Running;
    }
}

fn end_session(book: &mut Book) {
    let running: Vec<String> =
        book.runs().filter(|run| run.status == Status::Running).map(|run| run.id.clone()).collect();
    for id in running {
        end(book, &id);
    }
    if book.session.status == Status::Running {
        book.session.status = Status::Completed;
    }
}
