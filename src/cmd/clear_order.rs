//! Lifting orders: what a grant, a resume or a reset does to the book, so that the work can go on. Touches no state.

use crate::cmd::target::Target;
use crate::domain::event::{Agent, Event, Kind, Moment};
use crate::domain::limit::{Limit, Meter, Stage};
use crate::domain::limit_set::{Rule, Rules};
use crate::domain::meters::Meters;
use crate::domain::policy::{Action, Layer, Scope};
use crate::domain::session::{Order, Run};
use crate::domain::verdict::Finding;
use crate::engine::estimate;
use crate::engine::evaluate::{self, Look};
use crate::engine::grants;
use crate::engine::lift_orders;
use crate::engine::measure;
use crate::engine::session_state::Book;

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
        Target::Session(_) => lift_orders::lift_session(book),
        Target::Run { run, .. } => lift_orders::lift_run(book, run),
    }
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
        let (scope, rules, meters) = meters(book, target, &run_of(book, target), (now, rule))?;
        let finding = Finding::of(rule, scope, rule.limit.used(&meters));
        // Whoever makes the next request: what the dearest would add counts.
        let others = makers(book, target).filter_map(|id| Some(self::meters(book, target, id, (now, rule))?.2));
        let next = others.chain([meters]).map(|meters| ahead(rule.limit, rules, &meters)).max().unwrap_or(0);
        let lacks = finding.used.saturating_add(next).saturating_sub(rule.cap);
        (lacks > 0).then(|| UsedUp { finding, more: rule.sufficient_increase(lacks).max(lacks) })
    });
    found.collect()
}

/// Returns the limits over sessions that would keep the next prompt of a book's session back.
pub fn budgets_used_up(book: &Book, now: Moment) -> Vec<Finding> {
    let none = Run::default();
    let main = book.session.main.as_deref().and_then(|main| book.run(main)).unwrap_or(&none);
    let kind = Kind::Prompt { text_hash: 0, notifications: Vec::new(), by_machine: false };
    let event = Event { kind, ..batch_ended(book, now) };
    let model = estimate::model_of(book, main);
    let above = measure::usage(book, main, &event);
    let above = above.iter().filter(|used| !matches!(used.scope, Scope::Run | Scope::Session));
    let found = above.flat_map(|used| {
        let around = Look { used, stage: Stage::Prompt, event: &event, told: &[], model };
        used.rules.rules.iter().filter_map(move |rule| evaluate::look(rule, around)).collect::<Vec<_>>()
    });
    found.filter(|finding| finding.is_trip() && finding.action != Action::Warn).collect()
}

/// Returns what a limit has to say of a session or run now; nothing where no rule holds it.
pub fn look(book: &Book, target: &Target, name: &str, now: Moment) -> Option<Finding> {
    let rule = rules(book, target)?.named(name)?;
    let (scope, _, meters) = meters(book, target, &run_of(book, target), (now, rule))?;
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
    grants::raise(book, &id, &Finding { layer: Layer::Grant, ..finding.clone() }, more);
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

/// Returns the runs whose next request may be a target's next step.
fn makers<'a>(book: &'a Book, target: &Target) -> impl Iterator<Item = &'a str> {
    let all = matches!(target, Target::Session(_));
    book.runs().filter(move |run| all && !run.recent.is_empty()).map(|run| run.id.as_str())
}

/// Measures a target for a rule, with the next request of the run that is `named`.
fn meters<'a>(book: &'a Book, target: &Target, named: &str, at: (Moment, &Rule)) -> Option<(Scope, &'a Rules, Meters)> {
    let (now, rule) = at;
    let id = book.run(named).or_else(|| book.runs().next()).map(|run| run.id.clone()).unwrap_or_default();
    let event = batch_ended(book, now);
    let (of_run, of_session) = measure::meters_of(book, &id, &event, rule.of.as_ref());
    match target {
        Target::Session(_) => Some((Scope::Session, &book.session.rules, of_session)),
        Target::Run { run, .. } => Some((Scope::Run, &book.run(run)?.rules, of_run)),
    }
}

/// Makes an event at which every limit of a session and its runs is looked at.
fn batch_ended(book: &Book, now: Moment) -> Event {
    Event {
        session: book.session.id.clone(),
        agent: Agent::Main,
        prompt_id: None,
        at: now,
        attended: true,
        kind: Kind::BatchEnded(Vec::new()),
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
