//! One event, from counting to answering: the order of things, the same live and in a replay.

use crate::engine::account;
use crate::engine::book::{Book, Link, NewCharge, Rulebook};
use crate::engine::decide::{Policy, ScopeUsage, Usage, decide};
use crate::engine::enforce;
use crate::engine::event::{Call, Event, Intent, Kind};
use crate::engine::runs;
use crate::engine::session::{Order, Phase, Status};
use crate::engine::verdict::Verdict;

/// What the rim found out for an event: responses not charged yet, by run, and how its agent was spawned.
#[derive(Debug, Default)]
pub struct Findings {
    /// Responses, with the run whose transcript has them; nothing for the main transcript.
    pub charges: Vec<(Option<String>, NewCharge)>,
    /// How the acting subagent was spawned.
    pub link: Option<Link>,
}

/// Takes one event into the book; returns the run it belongs to and what to answer.
pub fn step(book: &mut Book, event: &Event, found: &Findings, rulebook: &dyn Rulebook) -> (String, Verdict) {
    // What is new in the main transcript belongs to the main run that was at work before this event.
    let main = book.session.main.clone();
    let first_of_agent = |id: &str| book.run(id).is_none();
    let late: Vec<bool> = found.charges.iter().map(|(run, _)| run.as_deref().is_some_and(first_of_agent)).collect();
    for ((run, charge), _) in found.charges.iter().zip(&late).filter(|(_, late)| !**late) {
        account::charge(book, run.as_deref().or(main.as_deref()), charge);
    }
    let id = runs::resolve(book, event, found.link.as_ref(), rulebook);
    for ((run, charge), _) in found.charges.iter().zip(&late).filter(|(_, late)| **late) {
        account::charge(book, run.as_deref(), charge);
    }
    account::count(book, &id, event);
    enforce::granted(book, event);
    enforce::adopt(book, &id, event);
    let verdict = judge(book, &id, event);
    enforce::progress(book, &id, event, &verdict);
    enforce::enforce(book, &id, event, &verdict);
    (id, verdict)
}

fn judge(book: &Book, id: &str, event: &Event) -> Verdict {
    let Some(run) = book.run(id) else { return Verdict::default() };
    let session = &book.session;
    let (of_run, of_session) = account::meters(book, id, event);
    let policy = Policy { mode: session.mode, run: &run.rules, session: &session.rules };
    let standing = run.order.as_ref().or(match event.kind {
        Kind::Prompt { .. } => session.order.as_ref(),
        _ => None,
    });
    let usage = Usage {
        run: ScopeUsage { meters: of_run, warned: &run.warned, wants: &run.wants },
        session: ScopeUsage { meters: of_session, warned: &session.warned, wants: &session.wants },
        order: standing,
        asks: &session.asks,
        declined: &run.declined,
        addressee: addressee(book, event),
    };
    decide(&policy, &usage, event)
}

/// Finds the agent that a message is for, where it may not go on: paused, or over what requests spend.
fn addressee<'a>(book: &'a Book, event: &Event) -> Option<(&'a str, &'a Order)> {
    let Kind::ToolRequested(Call { intent: Intent::Message { to }, .. }) = &event.kind else { return None };
    let run = book.addressee(to)?;
    let order = run.order.as_ref()?;
    let barred = run.status == Status::Paused || run.status == Status::Stopped || order.finding.spent_by_requests();
    (barred && order.phase == Phase::Halted).then_some((run.id.as_str(), order))
}
