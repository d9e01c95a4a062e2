//! Clearing orders: what a grant, a resume or a reset does to a session's loaded state, so that the work can go on.

use std::cmp::Reverse;

use crate::cmd::target::Target;
use crate::domain::action::Action;
use crate::domain::layer::Layer;
use crate::domain::limit_meter::{ComingStep, Meter, Stage};
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::record::BY_COMMAND;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Run};
use crate::domain::spend::meters::Meters;
use crate::domain::stable_sort::sort_by_key;
use crate::domain::unit::Unit;
use crate::domain::usage::{Activity, Occasion};
use crate::domain::verdict::Finding;
use crate::engine::clear_orders;
use crate::engine::evaluate_limits::place;
use crate::engine::grants;
use crate::engine::log_records;
use crate::engine::measure;
use crate::engine::next_prompt;
use crate::engine::session_state::SessionState;
use crate::engine::spend_ahead::{StepAhead, cold_ahead, spend_ahead};

/// Returns the order that stands for a target.
pub fn order<'a>(state: &'a SessionState, target: &Target) -> Option<&'a Order> {
    match target {
        Target::Session(_) => state.session.order.as_ref(),
        Target::Run { run, .. } => state.run(run)?.order.as_ref(),
    }
}

/// Whether a limit has given an order to a target, or to a run by a cap of its session: to each that was answered with No.
pub fn has_ordered(state: &SessionState, target: &Target, limit: &str) -> bool {
    let is_by = |order: &Order| order.finding.source == *limit;
    let of_session = |run: &Run| run.order.as_ref().is_some_and(|it| it.finding.scope == Scope::Session && is_by(it));
    let is_session = matches!(target, Target::Session(_));
    order(state, target).is_some_and(is_by) || is_session && state.runs().any(of_session)
}

/// Returns where the order on a target was set: a run may only have taken over its session's.
pub fn holder(state: &SessionState, target: &Target) -> Target {
    match order(state, target) {
        Some(order) if order.finding.scope == Scope::Session && order.finding.ends_session() => {
            Target::Session(state.session.id.clone())
        }
        _ => target.clone(),
    }
}

/// Clears the order of a session or run, and of every run that has adopted it; returns it.
pub fn clear(state: &mut SessionState, target: &Target, at: Moment) -> Option<Order> {
    match target {
        Target::Session(_) => clear_orders::clear_session_order(state, at),
        Target::Run { run, .. } => clear_orders::clear_run_order(state, run, at),
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
pub fn used_up(state: &SessionState, target: &Target, now: Moment) -> Vec<UsedUp> {
    let rules = rules(state, target).cloned().unwrap_or_default();
    let found = rules.limits.iter().filter(|rule| rule.action != Action::Warn).filter_map(|rule| {
        let (scope, rules, meters) = meters(state, target, &run_of(state, target), now, rule)?;
        let finding = Finding::of(rule, scope, rule.limit.used(&meters));
        // Whoever makes the next request: what the dearest would add counts.
        let others = makers(state, target).filter_map(|id| Some(self::meters(state, target, id, now, rule)?.2));
        let all: Vec<Meters> = others.chain([meters]).collect();
        let next = |meters: &Meters| ahead(rule, rules, meters);
        let lacks =
            |ahead: Option<u64>| (finding.used.saturating_add(ahead?)).checked_sub(rule.cap).filter(|it| *it > 0);
        lacks(all.iter().filter_map(next).max())?;
        // Who gives more may take their time.
        let late = all.iter().filter_map(|meters| Some(next(meters)?.saturating_add(cold_ahead(rule.limit, meters))));
        let lacks = lacks(late.max())?;
        Some(UsedUp { finding, more: rule.sufficient_increase(lacks).max(lacks) })
    });
    found.collect()
}

/// Returns whose limits hold a target's next step beside its own: the main run that the next prompt to a session goes on with, or a
/// run's session.
pub fn beside(state: &SessionState, target: &Target) -> Option<Target> {
    let session = state.session.id.clone();
    let main = state.session.main.as_deref().and_then(|main| state.run(main));
    match target {
        Target::Session(_) => main
            .filter(|run| run.order.is_none() && (run.working || run.resumed))
            .map(|run| Target::Run { session, run: run.id.clone() }),
        Target::Run { .. } => Some(Target::Session(session)),
    }
}

/// Returns the limits over sessions that would keep the next prompt of the state's session back.
pub fn budgets_used_up(state: &SessionState, now: Moment) -> Vec<Finding> {
    let mut found = next_prompt::used_up(state, now);
    found.retain(|it| it.scope != Scope::Session && !it.is_window());
    found
}

/// Returns every limit that is used up by a session, by its runs at work or over sessions: what acts first, first.
pub fn would_act(state: &SessionState, now: Moment) -> Vec<(Target, Finding)> {
    let session = Target::Session(state.session.id.clone());
    let at_work = state.runs().filter(|run| run.order.is_none() && (run.working || run.resumed));
    let runs = at_work.map(|run| Target::Run { session: run.session.clone(), run: run.id.clone() });
    let own = runs.chain([session.clone()]).flat_map(|of| {
        let used_up = used_up(state, &of, now).into_iter();
        used_up.map(move |it| (of.clone(), it.finding))
    });
    let above = budgets_used_up(state, now).into_iter().map(|finding| (session.clone(), finding));
    let mut found: Vec<(Target, Finding)> = own.chain(above).collect();
    sort_by_key(&mut found, |(_, finding)| {
        let ends_work = finding.action > Action::RequestIncrease && finding.ends_run();
        // A plain call is not looked at for what sessions share: a request is.
        let is_shared = matches!(finding.scope, Scope::User | Scope::Project | Scope::Team);
        let at_call = !is_shared && (finding.used > finding.cap || !finding.spent_by_requests());
        let wide = ends_work && finding.ends_session();
        (Reverse((ends_work, at_call, wide, finding.action)), place(finding))
    });
    found
}

/// Returns what a limit has to say of a session or run now; nothing where no rule holds it.
pub fn evaluate_limit(state: &SessionState, target: &Target, name: &str, now: Moment) -> Option<Finding> {
    let rule = rules(state, target)?.named(name)?;
    let (scope, _, meters) = meters(state, target, &run_of(state, target), now, rule)?;
    Some(Finding::of(rule, scope, rule.limit.used(&meters)))
}

/// Returns the rules of a session or run.
pub fn rules<'a>(state: &'a SessionState, target: &Target) -> Option<&'a LimitSet> {
    match target {
        Target::Session(_) => Some(&state.session.limits),
        Target::Run { run, .. } => Some(&state.run(run)?.limits),
    }
}

/// Raises a cap, and writes that down.
pub fn raise(state: &mut SessionState, target: &Target, finding: &Finding, more: u64) {
    let id = run_of(state, target);
    grants::raise(state, &id, &Finding { layer: Layer::Grant, ..finding.clone() }, more);
    log_records::give_reason(state, BY_COMMAND);
    // Whoever said No to the old cap is asked again at the new one.
    let declined = |run: &&Run| run.declined.iter().any(|limit| finding.source == **limit);
    let declined: Vec<String> = state.runs().filter(declined).map(|run| run.id.clone()).collect();
    for id in declined.iter().filter(|other| finding.scope == Scope::Session || **other == id) {
        if let Some(run) = state.run_mut(id) {
            run.declined.retain(|limit| finding.source != **limit);
            run.pending_trips.retain(|trip| !trip.declined || trip.source != finding.source);
        }
    }
}

/// Returns the run that records about a target name: the run itself, or the session's main run.
pub fn run_of(state: &SessionState, target: &Target) -> String {
    match target {
        Target::Session(_) => state.session.main.clone().unwrap_or_default(),
        Target::Run { run, .. } => run.clone(),
    }
}

/// Returns the runs whose next request may be a target's next step.
fn makers<'a>(state: &'a SessionState, target: &Target) -> impl Iterator<Item = &'a str> {
    let all = matches!(target, Target::Session(_));
    state.runs().filter(move |run| all && !run.recent.is_empty()).map(|run| run.id.as_str())
}

/// Measures a target for a rule, with the next request of the run that is `named`.
fn meters<'a>(
    state: &'a SessionState,
    target: &Target,
    named: &str,
    now: Moment,
    rule: &LimitRule,
) -> Option<(Scope, &'a LimitSet, Meters)> {
    let id = state.run(named).or_else(|| state.runs().next()).map(|run| run.id.clone()).unwrap_or_default();
    let occasion = Occasion { at: now, activity: Activity::ResponseOver };
    let measured = measure::meters_for(state, &id, occasion, rule);
    match target {
        Target::Session(_) => Some((Scope::Session, &state.session.limits, measured.session)),
        Target::Run { run, .. } => Some((Scope::Run, &state.run(run)?.limits, measured.run)),
    }
}

/// Returns what the next step adds: a call, or a request and the report after it. Nothing where the limit counts no such step.
fn ahead(rule: &LimitRule, rules: &LimitSet, meters: &Meters) -> Option<u64> {
    let is_asked = rule.action == Action::RequestIncrease;
    let step = StepAhead { rules, meters, stage: Stage::Request, is_asked };
    match &rule.limit.meter {
        Meter::Spend { part, .. } => Some(spend_ahead(*part, step).unwrap_or(0)),
        // A step that takes longer than what is left ends the agent before it has done anything.
        Meter::Count { .. } if rule.limit.unit == Unit::Millis => {
            Some((meters.duration_ms / meters.spent.requests.max(1)).max(1))
        }
        Meter::Count { adds, .. } => {
            [Stage::Call, Stage::Request].map(ComingStep::at).into_iter().filter_map(adds).max()
        }
        Meter::Window | Meter::Silence => Some(0),
    }
}
