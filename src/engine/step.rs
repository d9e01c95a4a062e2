//! One event, from counting to answering: the order of things, the same live and in a replay.

use crate::engine::account;
use crate::engine::book::{Book, Link, NewCharge, Rulebook};
use crate::engine::decide::{Policy, ScopeUsage, Usage, decide};
use crate::engine::enforce;
use crate::engine::event::{Call, Event, Intent, Kind};
use crate::engine::runs;
use crate::engine::session::{Order, Phase, Status};
use crate::engine::verdict::Verdict;

/// A subagent whose transcript was found although no hook has announced it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unannounced {
    /// Its id.
    pub id: String,
    /// Its type.
    pub agent_type: String,
    /// How it was spawned.
    pub link: Link,
}

/// What the rim found out for an event.
#[derive(Debug, Default)]
pub struct Findings {
    /// Responses not charged yet, each with the run whose transcript has it.
    pub charges: Vec<(String, NewCharge)>,
    /// How the acting subagent was spawned.
    pub link: Option<Link>,
    /// Subagents that no hook has announced.
    pub unannounced: Vec<Unannounced>,
}

/// Takes one event into the book; returns the run it belongs to and what to answer.
pub fn step(book: &mut Book, event: &Event, found: &Findings, rulebook: &dyn Rulebook) -> (String, Verdict) {
    for agent in &found.unannounced {
        runs::announce(book, agent, event.at, rulebook);
    }
    // What is new in the main transcript belongs to the main run that was at work before this event.
    let (known, late): (Vec<_>, Vec<_>) = found.charges.iter().partition(|(run, _)| book.run(run).is_some());
    for (run, charge) in known {
        account::charge(book, run, charge);
    }
    let id = runs::resolve(book, event, found.link.as_ref(), rulebook);
    for (run, charge) in late {
        account::charge(book, run, charge);
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
        run_id: id,
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
