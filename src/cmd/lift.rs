//! Lifting orders: what a grant, a resume or a reset does to the book, so that the work can go on. Touches no state.

use crate::cmd::target::Target;
use crate::engine::book::Book;
use crate::engine::enforce;
use crate::engine::event::{Agent, Event, Kind, Moment};
use crate::engine::loops::LOOPS;
use crate::engine::measure;
use crate::engine::meters::Meters;
use crate::engine::policy::{Action, Layer, Scope};
use crate::engine::rules::{Rule, Rules};
use crate::engine::session::{Order, Run, Status};
use crate::engine::verdict::Finding;
use crate::limits::{Limit, Meter, Stage};

/// Returns the order that stands for a target.
pub fn order<'a>(book: &'a Book, target: &Target) -> Option<&'a Order> {
    match target {
        Target::Session(_) => book.session.order.as_ref(),
        Target::Run { run, .. } => book.run(run)?.order.as_ref(),
    }
}

/// Returns where the order on a target was set: a run may only have taken over its session's.
pub fn holder(book: &Book, target: &Target) -> Target {
    match order(book, target) {
        Some(order) if order.finding.scope == Scope::Session && order.finding.ends_session() => {
            Target::Session(book.session.id.clone())
        }
        _ => target.clone(),
    }
}

/// Lifts the order of a session or run, and of every run that has taken it over; returns it.
pub fn lift(book: &mut Book, target: &Target) -> Option<Order> {
    match target {
        Target::Session(_) => lift_session(book),
        Target::Run { run, .. } => lift_run(book, run),
    }
}

fn lift_session(book: &mut Book) -> Option<Order> {
    if matches!(book.session.status, Status::Paused | Status::Failed | Status::Stopped) {
        book.session.status = Status::Running;
    }
    let taken = |run: &&Run| run.order.as_ref().is_some_and(|order| order.finding.scope == Scope::Session);
    let runs: Vec<(String, Option<Order>)> =
        book.runs().filter(taken).map(|run| (run.id.clone(), run.order.clone())).collect();
    let order = book.session.order.take().or_else(|| runs.first().and_then(|(_, order)| order.clone()));
    for (id, _) in runs {
        go_on(book, &id);
    }
    order
}

fn lift_run(book: &mut Book, id: &str) -> Option<Order> {
    let order = book.run(id)?.order.clone()?;
    let same = |run: &&Run| run.order.as_ref().is_some_and(|theirs| theirs.finding == order.finding);
    let below: Vec<String> =
        book.runs().filter(same).filter(|run| is_below(book, run, id)).map(|run| run.id.clone()).collect();
    let is_main = book.run(id).is_some_and(Run::is_main);
    let current = book.session.main.as_deref().and_then(|main| book.run(main));
    if is_main && current.is_none_or(|run| run.id == id || run.status != Status::Running) {
        book.session.main = Some(id.to_owned());
    }
    for id in below.iter().map(String::as_str).chain([id]) {
        go_on(book, id);
    }
    Some(order)
}

/// Returns whether a run was spawned by another, at whatever distance.
pub fn is_below(book: &Book, run: &Run, id: &str) -> bool {
    let mut at = run.parent.as_deref();
    for _ in 0..64 {
        match at {
            Some(parent) if parent == id => return true,
            Some(parent) => at = book.run(parent).and_then(|run| run.parent.as_deref()),
            None => return false,
        }
    }
    false
}

/// Takes the order off a run. One whose loop has not been ended yet is still at work; the current main run goes on with
/// the next prompt; others with the next message to them.
fn go_on(book: &mut Book, id: &str) {
    let current = book.session.main.as_deref() == Some(id);
    let Some(run) = book.run_mut(id) else { return };
    run.order = None;
    // What led to the stop no longer counts where it is no amount that is used up.
    run.loops.forget();
    run.warned.retain(|(name, _)| name != LOOPS);
    run.denials = 0;
    run.refusing = false;
    run.stop_reason = None;
    run.error = None;
    run.told = false;
    run.resumed = current && !run.working;
    run.status = if run.working || current { Status::Running } else { Status::Completed };
}

/// A limit that would stop the work again at once.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedUp {
    /// Which, with what is used.
    pub finding: Finding,
    /// The smallest multiple of its increase that is enough.
    pub more: u64,
}

/// Returns the limits of a session or run that would stop it again at its next step.
pub fn used_up(book: &Book, target: &Target, now: Moment) -> Vec<UsedUp> {
    let rules = rules(book, target).cloned().unwrap_or_default();
    let found = rules.rules.iter().filter(|rule| rule.action != Action::Warn).filter_map(|rule| {
        let (scope, rules, meters) = meters(book, target, (now, rule))?;
        let finding = Finding::of(rule, scope, rule.limit.used(&meters));
        let lacks = finding.used.saturating_add(ahead(rule.limit, rules, &meters)).saturating_sub(rule.cap);
        let increase = rule.increase.max(1);
        (lacks > 0).then(|| UsedUp { finding, more: lacks.div_ceil(increase).saturating_mul(increase) })
    });
    found.collect()
}

/// Returns what a limit has to say of a session or run now; nothing where no rule holds it.
pub fn look(book: &Book, target: &Target, name: &str, now: Moment) -> Option<Finding> {
    let rule = rules(book, target)?.named(name)?;
    let (scope, _, meters) = meters(book, target, (now, rule))?;
    Some(Finding::of(rule, scope, rule.limit.used(&meters)))
}

/// Returns the rules of a session or run.
pub fn rules<'a>(book: &'a Book, target: &Target) -> Option<&'a Rules> {
    match target {
        Target::Session(_) => Some(&book.session.rules),
        Target::Run { run, .. } => Some(&book.run(run)?.rules),
    }
}

/// Raises a cap, and writes that down.
pub fn raise(book: &mut Book, target: &Target, finding: &Finding, more: u64) {
    let id = run_of(book, target);
    enforce::raise(book, &id, &Finding { layer: Layer::Grant, ..finding.clone() }, more);
    // Whoever said No to the old cap is asked again at the new one.
    let declined = |run: &&Run| run.declined.contains(&finding.limit);
    let declined: Vec<String> = book.runs().filter(declined).map(|run| run.id.clone()).collect();
    for id in declined.iter().filter(|other| finding.scope == Scope::Session || **other == id) {
        if let Some(run) = book.run_mut(id) {
            run.declined.retain(|limit| *limit != finding.limit);
        }
    }
}

/// Returns the run that records about a target name: the run itself, or the session's main run.
pub fn run_of(book: &Book, target: &Target) -> String {
    match target {
        Target::Session(_) => book.session.main.clone().unwrap_or_default(),
        Target::Run { run, .. } => run.clone(),
    }
}

fn meters<'a>(book: &'a Book, target: &Target, at: (Moment, &Rule)) -> Option<(Scope, &'a Rules, Meters)> {
    let (now, rule) = at;
    let named = run_of(book, target);
    let id = book.run(&named).or_else(|| book.runs().next()).map(|run| run.id.clone()).unwrap_or_default();
    let event = Event {
        session: book.session.id.clone(),
        agent: Agent::Main,
        prompt_id: None,
        at: now,
        attended: true,
        kind: Kind::BatchEnded(Vec::new()),
    };
    let (of_run, of_session) = measure::meters_of(book, &id, &event, rule.of.as_ref());
    match target {
        Target::Session(_) => Some((Scope::Session, &book.session.rules, of_session)),
        Target::Run { run, .. } => Some((Scope::Run, &book.run(run)?.rules, of_run)),
    }
}

/// Returns what the next step adds: a call, or a request and the report after it.
fn ahead(limit: &Limit, rules: &Rules, meters: &Meters) -> u64 {
    match &limit.meter {
        Meter::Spend { part, .. } => {
            let requests = u64::from(rules.grace_turns) + 1;
            part(&meters.reserved).saturating_add(part(&meters.next).saturating_mul(requests))
        }
        Meter::Step { adds, .. } => [Stage::Call, Stage::Request].into_iter().filter_map(adds).max().unwrap_or(0),
        Meter::Window => 0,
    }
}
