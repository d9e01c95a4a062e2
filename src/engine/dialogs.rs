//! Dialogs that ask a person for more: what a Yes grants, and what comes of one that no person gave.

use crate::engine::account;
use crate::engine::book::{Book, CallState, Ended};
use crate::engine::enforce;
use crate::engine::event::{Call, Event, Kind, Moment, Outcome};
use crate::engine::session::{Ask, Run, Spawn};
use crate::engine::verdict::Verdict;

/// Gaps between asking and answering shorter than this are the client's own work, not a wait for a person.
const SHORTEST_WAIT_MS: u64 = 500;

/// Keeps when the client has announced a dialog; it does not say for which call.
pub fn announced(book: &mut Book, run: &str, at: Moment) {
    if let Some(run) = book.run_mut(run) {
        run.dialog_at = Some(at);
    }
}

/// Keeps what the dialog of a call asks for.
pub fn ask(book: &mut Book, id: &str, event: &Event, verdict: &Verdict) {
    let (Kind::ToolRequested(call), Some(finding)) = (&event.kind, verdict.deciding()) else { return };
    if book.call(&call.id).is_some_and(|call| call.state == CallState::Counted) {
        // It comes again: it has run, and its end is no Yes.
        return;
    }
    book.session.asks.push(Ask {
        tool_use_id: call.id.clone(),
        run: id.to_owned(),
        finding: finding.clone(),
        increase: finding.increase,
        granted: false,
        granted_at: Moment::default(),
    });
}

/// A dialog's call ran: that was a Yes. Grants what was asked, once.
pub fn granted(book: &mut Book, event: &Event) {
    let Kind::ToolEnded(call, _) = &event.kind else { return };
    let open = book.session.asks.iter_mut().find(|ask| ask.tool_use_id == call.id && !ask.granted);
    let Some(ask) = open else { return };
    (ask.granted, ask.granted_at) = (true, event.at);
    let ask = ask.clone();
    enforce::raise(book, &ask.run, &ask.finding, ask.increase);
}

/// Takes the dialogs that are still open for a No where a prompt goes on with the session: the main agent's, since its loop had
/// ended; a subagent's too where a person has sent the prompt.
pub fn decline_open(book: &mut Book, by_person: bool) {
    let of_main = |run: &str| book.run(run).is_none_or(Run::is_main);
    let over: Vec<String> =
        book.session.asks.iter().map(|ask| ask.run.clone()).filter(|run| by_person || of_main(run)).collect();
    for run in over {
        decline(book, &run);
    }
    // Nor do its spawns come whose end was not seen.
    let of_main = |spawn: &&Spawn| book.run(&spawn.run).is_some_and(Run::is_main);
    let never = |spawn: &&Spawn| book.call(&spawn.call).is_some_and(|call| call.ended == Ended::No);
    let lost = book.session.spawns.iter().filter(of_main).filter(never).map(|spawn| spawn.call.clone());
    for call in lost.collect::<Vec<_>>() {
        account::release_spawn(book, &call);
    }
}

/// Takes a run's open dialogs for a No: it goes on without their calls, or has ended.
pub fn decline(book: &mut Book, run: &str) {
    let asks = std::mem::take(&mut book.session.asks);
    let (over, open): (Vec<Ask>, Vec<Ask>) = asks.into_iter().partition(|ask| ask.run == run && !ask.granted);
    book.session.asks = open;
    for ask in over {
        if let Some(run) = book.run_mut(run) {
            run.declined.push(ask.finding.limit);
        }
    }
}

/// Takes back what hooks have granted in a person's place. Nobody is asked in this session any more: a dialog that a hook
/// answers asks nobody.
pub fn take_back(book: &mut Book, by_hooks: &[String]) {
    let asks = std::mem::take(&mut book.session.asks);
    let (theirs, others): (Vec<Ask>, Vec<Ask>) = asks.into_iter().partition(|ask| by_hooks.contains(&ask.tool_use_id));
    book.session.asks = others;
    for Ask { run, finding, increase, .. } in theirs {
        if let Some(side) = book.side(&finding, &run) {
            side.rules.take_back(&finding.limit, increase, finding.layer);
        }
        if let Some(pool) = book.pools.iter_mut().find(|pool| pool.scope == finding.scope) {
            pool.granted.retain(|granted| *granted != (finding.limit.clone(), increase));
        }
        book.session.has_stand_in = true;
        book.session.tell(&format!(
            "a hook answered the dialog about {} in a person's place; nothing is granted, and nobody is asked in this session any more",
            finding.limit
        ));
    }
}

/// Returns when a dialog was opened for a call: the client announces it, or we have asked for it ourselves. What else held the call,
/// a hook of the agent's own, was no wait for a person.
fn opened(book: &Book, run: &str, call: &Call) -> Option<Moment> {
    let requested = book.call(&call.id)?.requested?;
    let announced = book.run(run)?.dialog_at.filter(|at| at.boot == requested.boot && at.mono_ms >= requested.mono_ms);
    let asked = book.session.asks.iter().any(|ask| ask.tool_use_id == call.id);
    announced.or(asked.then_some(requested)).filter(|_| !book.session.has_stand_in)
}

/// Takes the wait for a dialog off the clock: from its opening to the call's end, less the call's own duration.
pub fn take_off_wait(book: &mut Book, id: &str, (call, outcome): (&Call, &Outcome), to: Moment) {
    let (Some(from), Some(ran)) = (opened(book, id, call), outcome.duration_ms) else { return };
    let Some(run) = book.run_mut(id) else { return };
    let until = to.awake_ms().saturating_sub(ran);
    let wait = until.saturating_sub(from.awake_ms().max(run.waited_until));
    if from.boot != to.boot || wait < SHORTEST_WAIT_MS {
        return;
    }
    run.waited_until = until;
    run.tally.duration_ms = run.tally.duration_ms.saturating_sub(wait);
    if run.is_main() {
        book.session.tally.duration_ms = book.session.tally.duration_ms.saturating_sub(wait);
    }
}
