//! One event, from counting to answering: the order of things, the same live and in a replay.

use crate::domain::event::{Call, Event, Intent, Kind};
use crate::domain::ingested::Findings;
use crate::domain::repetition::LOOPS;
use crate::domain::session::{Phase, Run, Status};
use crate::domain::usage::{Barred, Onset, Usage};
use crate::domain::verdict::{Finding, Step, Verdict};
use crate::engine::completion;
use crate::engine::count;
use crate::engine::decide::{bars, decide};
use crate::engine::dialogs;
use crate::engine::enforce;
use crate::engine::estimate;
use crate::engine::lifecycle;
use crate::engine::lift_orders;
use crate::engine::measure;
use crate::engine::renew_limits;
use crate::engine::session_state::{Book, Rulebook};

/// Takes one event into the book; returns the run it belongs to and what to answer.
pub fn step(book: &mut Book, event: &Event, found: &Findings, rulebook: &dyn Rulebook) -> (String, Verdict) {
    dialogs::settle(book, &found.answered);
    for agent in &found.unannounced {
        lifecycle::announce(book, agent, event.at, rulebook);
    }
    // What is new in the main transcript belongs to the main run that was at work before this event.
    let (known, late): (Vec<_>, Vec<_>) = found.charges.iter().partition(|(run, _)| book.run(run).is_some());
    for (run, charge) in known {
        count::charge(book, run, charge, event.at);
    }
    if lifecycle::is_of_the_clients_own(book, event) {
        return (lifecycle::of_the_clients_own(book, event), Verdict::default());
    }
    let joins = lifecycle::is_at_work(book, event);
    let id = lifecycle::resolve(book, event, found.link.as_ref(), rulebook);
    for (run, charge) in late {
        count::charge(book, run, charge, event.at);
    }
    // What a pool that was counted anew has is what was found; what is estimated from here on it has not.
    book.pools.iter_mut().for_each(|pool| pool.counted = false);
    let renewed = renew_limits::renew(book, &id, rulebook);
    for lifted in lift_orders::lift_outgrown_runs(book, &renewed) {
        if let (Kind::Prompt { .. }, Some(run)) = (&event.kind, book.run_mut(&lifted)) {
            // This prompt has found its run already.
            run.resumed = false;
        }
    }
    completion::told_twice(book, &id, event);
    for recalled in &found.recalled {
        count::recall(book, recalled, event.at);
    }
    count::count(book, &id, event);
    dialogs::granted(book, event);
    let adopts = enforce::adopt(book, &id, event);
    completion::ask(book, &id, event);
    let onset = onset(book, &id, joins);
    let mut verdict = judge(book, &id, event, (onset, adopts, &found.missing));
    verdict.prompt_tail = discipline(event, &verdict, rulebook);
    enforce::progress(book, &id, event, &verdict);
    enforce::enforce(book, &id, event, &verdict);
    if onset != Onset::Joins {
        enforce::keep_back(book, &id, event, &verdict);
    }
    completion::close(book, &id, event, &verdict);
    if matches!(event.kind, Kind::Prompt { .. }) {
        book.session.kept_back = verdict.deciding().filter(|_| verdict.step >= Step::Deny).cloned();
    }
    (id, verdict)
}

/// Tells how a prompt or a start finds its run, where that was at work before it or not.
fn onset(book: &Book, id: &str, joins: bool) -> Onset {
    let is_new = |run: &Run| run.tally.spent.requests == 0 && run.tally.turns == 0;
    match book.run(id) {
        _ if joins => Onset::Joins,
        Some(run) if is_new(run) => Onset::Begins,
        _ => Onset::GoesOn,
    }
}

fn judge(book: &Book, id: &str, event: &Event, how: (Onset, bool, &[Finding])) -> Verdict {
    let (onset, adopts, missing) = how;
    let Some(run) = book.run(id) else { return Verdict::default() };
    let session = &book.session;
    let above = if matches!(event.kind, Kind::Prompt { .. } | Kind::Compacting) { book.order_above() } else { None };
    let (missing, incomplete) = completion::weigh(run, event, (session.mode, missing));
    let usage = Usage {
        run_id: id,
        scopes: measure::usage(book, run, event),
        order: run.order.as_ref().or(above.as_ref()),
        asks: &session.asks,
        has_stand_in: session.has_stand_in,
        owes_ask: run.owes_ask,
        declined: &run.declined,
        onset,
        adopts,
        barred: barred(book, event),
        wakes: wakes(book, event),
        arrives: !run.admitted && !run.is_main(),
        model: estimate::model_of(book, run),
        missing,
        incomplete,
        unread: session.unread(),
        held: book.held.as_deref(),
    };
    let mut verdict = decide(session.mode, &usage, event);
    for finding in verdict.findings.iter_mut().filter(|finding| finding.limit == LOOPS) {
        finding.subject = run.loops.repeats(0).map(|what| what.to_string()).unwrap_or_default();
    }
    verdict
}

/// Whether the message at hand wakes an agent that has ended.
fn wakes(book: &Book, event: &Event) -> bool {
    let Kind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind else { return false };
    book.addressee(to).is_some_and(|run| run.status != Status::Running)
}

/// Returns the text about discipline for the prompt of the agent that a call starts.
fn discipline(event: &Event, verdict: &Verdict, rulebook: &dyn Rulebook) -> Option<String> {
    match &event.kind {
        Kind::ToolRequested(Call { intent: Intent::Spawn { agent_type, .. }, .. })
            if verdict.step < Step::Deny && !verdict.observed =>
        {
            rulebook.discipline(agent_type)
        }
        _ => None,
    }
}

/// Finds the agent that a message is for, where it may not go on: paused, over what requests spend, or without anything left
/// of its own limits for the request that the message asks for.
fn barred<'a>(book: &'a Book, event: &Event) -> Option<Barred<'a>> {
    let Kind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind else { return None };
    let run = book.addressee(to).filter(|run| !run.is_main())?;
    let Some(order) = &run.order else {
        let finding = bars(&measure::addressee(book, run, event), event, estimate::model_of(book, run))?;
        return Some(Barred { run: &run.id, finding, ended: false });
    };
    let held = run.status == Status::Paused || run.status == Status::Stopped || order.finding.spent_by_requests();
    let ended = held && order.phase == Phase::Halted;
    ended.then(|| Barred { run: &run.id, finding: order.finding.clone(), ended })
}
