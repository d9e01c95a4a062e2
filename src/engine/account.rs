//! Counting: what an event adds to the meters, before anything is decided.

use crate::engine::amount::Amount;
use crate::engine::book::{Book, CallState, NewCharge};
use crate::engine::event::{Call, Event, Intent, Kind, Moment, Outcome};
use crate::engine::meters::{Meters, Spend};
use crate::engine::policy::{Rules, Scope};
use crate::engine::record::{Record, RecordKind};
use crate::engine::runs;
use crate::engine::session::{MAIN, Request, Run, Session, Status};

/// Gaps between asking and answering shorter than this are the client's own work, not a wait for a person.
const SHORTEST_WAIT_MS: u64 = 500;
/// A reservation whose response never came stops counting after this.
const RESERVE_LIVES_MS: u64 = 600_000;
/// Calls kept with their run where no end of a batch is seen.
const MOST_IN_FLIGHT: usize = 32;
/// How many requests an estimate is made from.
const RECENT: usize = 5;

/// Charges a response to its run and session.
pub fn charge(book: &mut Book, id: &str, new: &NewCharge) {
    if book.run(id).is_none() {
        open_history(book, id);
    }
    book.session.tally.spent += new.adds;
    if new.charge.inherited {
        book.session.inherited += new.adds;
    }
    book.session.reserves.retain(|reserve| reserve.holder != id);
    let Some(run) = book.run_mut(id) else { return };
    run.tally.spent += new.adds;
    *run.models.entry(new.charge.model.clone()).or_default() += new.adds;
    if new.adds.requests > 0 && !new.charge.inherited {
        run.unpaid = (run.unpaid - 1).max(-1);
        run.recent.push(Request { spend: new.charge.spend, output: new.charge.output });
        let old = run.recent.len().saturating_sub(RECENT);
        run.recent.drain(..old);
        run.context = new.charge.context + new.charge.output;
        run.replay_price = new.replay_price;
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
    match &event.kind {
        Kind::ToolRequested(call) => requested(book, run, call, event.at),
        Kind::ToolEnded(call, outcome) => ended(book, run, (call, outcome), event.at),
        Kind::BatchEnded(calls) => batch(book, run, calls),
        Kind::SubagentStarted => restart(book, run),
        Kind::SubagentEnded => end(book, run),
        Kind::Stopped { crons } => {
            book.session.crons.clone_from(crons);
            end(book, run);
        }
        Kind::SessionStart { .. } => start_session(book),
        Kind::SessionEnded => end_session(book),
        Kind::Other(name) => note_unknown(book, name),
        _ => {}
    }
}

/// Moves the run's clock forward, and the session's with a main run's.
fn tick(book: &mut Book, id: &str, event: &Event) {
    book.session.last = event.at;
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
    if book.run(run).is_some_and(|run| run.calls.len() > MOST_IN_FLIGHT) {
        book.file_calls(run);
    }
    if let Some(agent) = &outcome.agent {
        if agent.ended {
            book.session.reserves.retain(|reserve| reserve.holder != call.id);
            runs::ended_outside(book, &agent.id);
        }
    } else if matches!(call.intent, Intent::Spawn { .. }) {
        book.session.reserves.retain(|reserve| reserve.holder != call.id);
        book.session.spawns.retain(|spawn| spawn.call != call.id);
    }
    if let (Some(background), Some(run)) = (&outcome.background, book.run_mut(run)) {
        run.background.push(background.clone());
    }
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
    let record = book.call_mut(run, &call.id);
    if matches!(record.state, CallState::Counted | CallState::Refused) {
        return;
    }
    record.state = CallState::Counted;
    book.session.tally.turns += 1;
    if let Some(run) = book.run_mut(run) {
        run.tally.turns += 1;
    }
}

fn batch(book: &mut Book, run: &str, calls: &[Call]) {
    book.session.sees_batches = true;
    if let Some(run) = book.run_mut(run) {
        run.unpaid = (run.unpaid + 1).max(0);
    }
    for call in calls {
        if let Some(at) = book.session.asks.iter().position(|ask| ask.tool_use_id == call.id) {
            // The dialog ended without the call running: that was a No.
            let ask = book.session.asks.remove(at);
            book.call_mut(run, &call.id).state = CallState::Refused;
            book.session.spawns.retain(|spawn| spawn.call != call.id);
            if let Some(run) = book.run_mut(run) {
                run.declined.push(ask.finding.limit);
            }
        }
        count_call(book, run, call);
        book.call_mut(run, &call.id).is_over = true;
    }
    book.file_calls(run);
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

fn start_session(book: &mut Book) {
    book.session.asks.clear();
    if matches!(book.session.status, Status::Completed | Status::Orphaned) {
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

/// Returns the meters of a run and of its session.
pub fn meters(book: &Book, id: &str, event: &Event) -> (Meters, Meters) {
    let session = &book.session;
    let Some(run) = book.run(id) else { return (Meters::default(), Meters::default()) };
    let first = || book.first_request.unwrap_or_else(|| mean_of(session));
    let next_by = |rules| if run.recent.is_empty() { first() } else { estimate(run, rules) };
    let spawn = matches!(&event.kind, Kind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }));
    // At a batch's end its response should be on disk; where the client is late, it is taken for an average one.
    let late = match event.kind {
        Kind::BatchEnded(_) => u64::try_from(run.unpaid).unwrap_or(0),
        _ => 0,
    };
    let of_run = Meters {
        turns: run.tally.turns,
        spent: run.tally.spent.counting_cache_reads(run.rules.count_cache_reads),
        next: next_by(&run.rules),
        duration_ms: run.tally.duration_ms,
        wall_ms: event.at.wall_since(run.started),
        reserved: next_by(&run.rules) * late,
        blind_to_batches: !session.sees_batches && run.tally.spent.requests >= 2,
    };
    let of_session = Meters {
        turns: session.tally.turns,
        spent: session.tally.spent.counting_cache_reads(session.rules.count_cache_reads),
        next: if spawn { first() } else { next_by(&session.rules) },
        duration_ms: session.tally.duration_ms,
        wall_ms: event.at.wall_since(session.started),
        reserved: reserved(session, id, event.at) + next_by(&session.rules) * late,
        ..of_run
    };
    (of_run, of_session)
}

/// Returns the mean request of a session, for runs that have made none yet.
fn mean_of(session: &Session) -> Spend {
    let spent = session.tally.spent;
    let count = spent.requests.max(1);
    Spend {
        requests: 1,
        tokens: spent.tokens / count,
        cache_reads: spent.cache_reads / count,
        cost: Amount(spent.cost.0 / count),
    }
}

/// Estimates the next request: the mean of the last five, or the conversation read again from the cache, if that is more.
pub fn estimate(run: &Run, rules: &Rules) -> Spend {
    let count = (run.recent.len() as u64).max(1);
    let sum: Spend = run.recent.iter().map(|request| request.spend).fold(Spend::default(), std::ops::Add::add);
    let output = run.recent.iter().map(|request| request.output).sum::<u64>() / count;
    let (read, write) = run.replay_price;
    let again = Amount(run.context.saturating_mul(read).saturating_add(output.saturating_mul(write)));
    Spend {
        requests: 1,
        tokens: sum.counting_cache_reads(rules.count_cache_reads).tokens.div_ceil(count),
        cache_reads: sum.cache_reads.div_ceil(count),
        cost: Amount(sum.cost.0.div_ceil(count)).max(again),
    }
}

/// Sums what other requests in flight are expected to spend.
fn reserved(session: &Session, run: &str, now: Moment) -> Spend {
    let live = session.reserves.iter().filter(|held| held.holder != run && now.since(held.at) < RESERVE_LIVES_MS);
    live.map(|held| held.spend).fold(Spend::default(), std::ops::Add::add)
}

/// Returns the rules of a scope.
pub fn rules<'a>(book: &'a Book, run: &'a Run, scope: Scope) -> &'a Rules {
    match scope {
        Scope::Run => &run.rules,
        Scope::Session => &book.session.rules,
    }
}
