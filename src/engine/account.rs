//! Counting: what an event adds to the meters, before anything is decided.

use std::collections::BTreeSet;

use crate::engine::book::{Book, CallState, Ended, NewCharge};
use crate::engine::bounds::{self, of_model};
use crate::engine::credible;
use crate::engine::dialogs;
use crate::engine::ending;
use crate::engine::estimate;
use crate::engine::event::{Background, Call, Event, Intent, Kind, Moment, Outcome};
use crate::engine::hidden;
use crate::engine::history;
use crate::engine::loops::{LOOPS, Seen};
use crate::engine::meters::Spend;
use crate::engine::record::{Record, RecordKind};
use crate::engine::runs;
use crate::engine::session::{Request, Run, Status};
use crate::engine::sessions;
use crate::engine::step::Recalled;
use crate::engine::unwritten;

/// A reservation whose response never came stops counting after this.
pub const RESERVE_LIVES_MS: u64 = 600_000;

/// What is added to the sums of a run and all that share in it.
#[derive(Clone, Copy)]
pub struct Adds<'a> {
    /// The model it was spent on.
    pub model: &'a str,
    /// Whether that has a price of its own.
    pub is_priced: bool,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// How much.
    pub spend: Spend,
    /// Whether another session was billed for it.
    pub inherited: bool,
    /// Whether it is of the time before Fusebox: the sessions that this one comes from have nothing to do with it.
    pub earlier: bool,
}

/// Charges a response to its run, its session, and all that share in it.
pub fn charge(book: &mut Book, id: &str, new: &NewCharge, now: Moment) {
    if book.run(id).is_none() {
        history::open(book, id);
    }
    let charge = &new.charge;
    let (inherited, earlier) = (charge.inherited, book.session.earlier.has(charge));
    let (model, is_priced) = (&charge.model, !charge.unknown_model);
    let adds = Adds { model, is_priced, at_ms: charge.at_ms, spend: new.adds, inherited, earlier };
    let estimated = unwritten::less_the_estimate(book, id, new);
    add(book, id, &Adds { spend: estimated.unwrap_or(new.adds), ..adds }, now);
    if credible::is_doubted(charge) {
        return unwritten::of_the_idle(book, id, now);
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

/// Adds what was spent to a run, to its session, and, where that was billed for it, to all that share in it.
pub fn add(book: &mut Book, id: &str, adds: &Adds, now: Moment) {
    spread(book, id, adds, now);
    if adds.spend.requests > 0 {
        book.settle(id);
    }
}

/// Does the same for a request that nothing was reserved for.
pub fn spread(book: &mut Book, id: &str, adds: &Adds, now: Moment) {
    book.session.tally.spent += adds.spend;
    *of_model(&mut book.session.models, adds.model, adds.is_priced) += adds.spend;
    if adds.inherited {
        book.session.inherited += adds.spend;
    } else {
        add_to_others(book, adds, now);
    }
    if let Some(run) = book.run_mut(id) {
        run.tally.spent += adds.spend;
        *of_model(&mut run.models, adds.model, adds.is_priced) += adds.spend;
    }
}

/// Adds what a session was billed for to the sessions that it comes from, and to the user's and the project's budgets.
fn add_to_others(book: &mut Book, adds: &Adds, now: Moment) {
    for above in book.above.iter_mut().filter(|_| !adds.earlier) {
        above.tally.spent += adds.spend;
        *of_model(&mut above.models, adds.model, adds.is_priced) += adds.spend;
    }
    for pool in &mut book.pools {
        if !pool.counted {
            let model = pool.name_of(&book.session.id, adds.model, adds.is_priced).into_owned();
            pool.charge((&model, adds.is_priced), adds.at_ms, adds.spend);
        }
    }
    if adds.spend.requests > 0 {
        book.note_request(adds.model, (adds.at_ms, now));
    }
}

/// Counts what an event says about its own run: time, calls, ends.
pub fn count(book: &mut Book, run: &str, event: &Event) {
    tick(book, run, event);
    hidden::charge_hooks(book, run);
    // An end that is told twice is one end: by the second the run is at work no more.
    let ends = event.ending().is_some_and(|ending| ending.again || book.run(run).is_some_and(|run| run.working));
    if ends {
        unwritten::look(book, run, event);
        unwritten::last_is_over(book, run);
    }
    match &event.kind {
        Kind::ToolRequested(call) => requested(book, run, call, event.at),
        Kind::ToolEnded(call, outcome) => ended(book, run, (call, outcome), event.at),
        Kind::BatchEnded(calls) => {
            batch(book, run, calls);
            unwritten::look(book, run, event);
        }
        // Where nobody attends, nobody is waited for: a hook answers.
        Kind::PermissionRequested if event.attended => dialogs::announced(book, run, event.at),
        Kind::SubagentStarted => restart(book, run),
        Kind::SubagentEnded(_) => {
            dialogs::decline(book, run);
            book.session.spawns.retain(|spawn| spawn.wakes.as_deref() != Some(run));
            end(book, run);
        }
        Kind::Stopped { crons, .. } => {
            dialogs::decline(book, run);
            book.session.crons.clone_from(crons);
            book.session.crons.truncate(bounds::CRONS);
            book.session.schedules |= !crons.is_empty();
            end(book, run);
        }
        Kind::SessionStart { source } => sessions::start(book, source),
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
        Kind::SessionEnded => sessions::end(book),
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
        Kind::SubagentStarted => true,
        Kind::SessionEnded => true,
        _ => false,
    }
}

fn requested(book: &mut Book, run: &str, call: &Call, at: Moment) {
    book.record_of(run, call).requested.get_or_insert(at);
    if let Intent::Schedules { prompt } = call.intent {
        book.session.crons.push(prompt);
        book.session.crons.truncate(bounds::CRONS);
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
    let record = book.record_of(run, call);
    record.ended = if outcome.failed { Ended::Failed } else { Ended::Well };
    record.took_ms = outcome.duration_ms.filter(|took| outcome.failed || *took >= TELLING_MS);
    match &outcome.agent {
        Some(agent) if agent.ended => {
            release_spawn(book, &call.id);
            runs::ended_outside(book, &agent.id);
        }
        Some(agent) if matches!(call.intent, Intent::Message { .. }) => runs::wakes(book, (run, call), &agent.id, at),
        Some(_) => {}
        None if matches!(call.intent, Intent::Spawn { .. } | Intent::Message { .. }) => release_spawn(book, &call.id),
        None => {}
    }
    if let Some(background) = &outcome.background {
        bounds::in_background(book, run, Background { began: requested.unwrap_or(at), told: at, ..background.clone() });
    }
}

/// Lets go of what a spawn had taken: its agent has ended, or never came.
pub fn release_spawn(book: &mut Book, call: &str) {
    let woken = book.session.spawns.iter().find(|spawn| spawn.call == call).and_then(|spawn| spawn.wakes.clone());
    if let Some(woken) = woken {
        book.release(&woken);
    }
    book.session.spawns.retain(|spawn| spawn.call != call);
    book.release(call);
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
    hidden::charge_call(book, run, call);
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
}

/// A call that ends well in less than that has not waited.
const TELLING_MS: u64 = 500;

fn batch(book: &mut Book, run: &str, calls: &[Call]) {
    book.session.sees_batches = true;
    unwritten::is_over(book, run);
    dialogs::batch_is_over(book, run, calls, book.session.last);
    let mut errors = BTreeSet::new();
    for call in calls {
        count_call(book, run, call);
        let record = book.record_of(run, call);
        record.is_over = true;
        let (state, ended, took_ms) = (record.state, record.ended, record.took_ms);
        if ended == Ended::No {
            release_spawn(book, &call.id);
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

/// Ends a run's stretch. What is reserved for its last response stays until that is charged: it is not on disk yet.
pub fn end(book: &mut Book, id: &str) {
    if let Some(run) = book.run_mut(id) {
        runs::end(run, Status::Completed);
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
