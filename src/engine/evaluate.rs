//! Looking at one rule: a trip, an early warning, or nothing.

use crate::domain::action::{Action, OnLimit};
use crate::domain::event::{CallOutcome, Event, EventKind};
use crate::domain::finding_source::FindingSource;
use crate::domain::frees::Frees;
use crate::domain::limit::{Ends, Limit};
use crate::domain::limit_meter::{ComingStep, Meter, Stage};
use crate::domain::limit_reason::{LimitReason, Reached};
use crate::domain::limit_set::{LimitRule, Rate};
use crate::domain::scope::Scope;
use crate::domain::spend::meters::{Spend, UnknownFirsts};
use crate::domain::text::duration;
use crate::domain::usage::{Activity, Occasion, ScopeUsage, Usage};
use crate::domain::verdict::Finding;
use crate::engine::spend_ahead::{StepAhead, cold_ahead, leaves_room, spend_ahead};

/// The per cent that stands for the last warning before a trip.
const LAST_WARNING: u8 = 95;

/// What a rule is looked at with.
#[derive(Clone, Copy)]
pub struct RuleContext<'a> {
    /// The scope that it counts over, with what that has used.
    pub scope: &'a ScopeUsage<'a>,
    /// Where the event stands in the agent's work.
    pub stage: Stage,
    /// Whether it is the first call of an agent that no admitted call has started.
    pub arrives: bool,
    /// Whether there is somebody to ask.
    pub attended: bool,
    /// What happens.
    pub occasion: Occasion<'a>,
    /// What the run was warned of.
    pub told: &'a [(String, u8)],
    /// The model of the next request.
    pub model: &'a str,
}

/// Looks at one rule: a trip, an early warning that was not given yet, or nothing.
pub fn evaluate_rule(rule: &LimitRule, at: RuleContext) -> Option<Finding> {
    let scope = at.scope;
    let step = step_of(rule, &at);
    let StepAhead { rules, meters, stage, .. } = step;
    let used = rule.limit.used(meters);
    let name = rule.name();
    let given = |percent: u8| scope.warned.iter().any(|(limit, at)| *limit == name && *at >= percent);
    let finding = |percent, used, ahead| {
        let said = says(scope, rule.limit, Reached { used, cap: rule.cap, ahead });
        Finding {
            action: if percent < 100 { Action::Warn } else { rule.action },
            percent,
            subject: said.subject,
            frees: said.frees.unwrap_or_else(|| frees(rule, scope)),
            above: scope.above.to_owned(),
            under_way: rule.limit.meter.part(&meters.under_way),
            wait_ms: said.wait_ms,
            ..Finding::of(rule, scope.scope, used)
        }
    };
    let adds = match &rule.limit.meter {
        Meter::Spend { part, .. } => spend_ahead(*part, step),
        Meter::Count { adds, .. } => adds(ComingStep { stage, call: at.occasion.call(), arrives: at.arrives }),
        Meter::Window | Meter::Silence => None,
    };
    if adds.is_some_and(|adds| used.saturating_add(adds) > rule.cap) {
        let ahead = match rule.limit.spent_by_requests() {
            true => next_request(rule, step).max(adds.unwrap_or(0)),
            false => 0,
        };
        let requests_ahead = if ahead > 0 { requests_ahead(step) } else { 0 };
        let cold = if ahead > 0 { cold_ahead(rule.limit, meters) } else { 0 };
        let more = used.saturating_add(ahead.max(adds.unwrap_or(0))).saturating_add(cold).saturating_sub(rule.cap);
        let increase = rule.sufficient_increase(more);
        let trip = Finding { increase, ahead, cold, requests_ahead, ..finding(100, used, ahead) };
        return (rule.action != Action::Warn || !given(100)).then_some(trip);
    }
    if rule.limit.ends == Ends::Call {
        return None;
    }
    // A limit with an action of its own is no budget: what its next step adds may never come. Of a plan the client knows what is used.
    let is_budget = rule.limit.action.is_none() && rule.limit.plan_window.is_none();
    let next = if rule.limit.spent_by_requests() || !is_budget { 0 } else { adds.unwrap_or(0) };
    let used = used.saturating_add(next);
    let reached = u128::from(used) * 100 / u128::from(rule.cap.max(1));
    let mut warns = rules.warn_at.iter().copied().filter(|at| u128::from(*at) <= reached);
    let percent = match rule.limit.announced_first && used >= rule.cap {
        true => LAST_WARNING,
        false => warns.by_ref().max()?,
    };
    (!given(percent)).then(|| finding(percent, used, 0))
}

/// Returns the step that a rule is evaluated for.
fn step_of<'a>(rule: &LimitRule, at: &RuleContext<'a>) -> StepAhead<'a> {
    let is_asked = at.attended && rule.action == Action::RequestIncrease;
    StepAhead { rules: at.scope.limits, meters: at.scope.meters_of(rule), stage: at.stage, is_asked }
}

/// Returns what the next step adds to what is used, where that is a request: a grant has to leave room for it.
fn next_request(rule: &LimitRule, step: StepAhead) -> u64 {
    match &rule.limit.meter {
        Meter::Spend { part, .. } => spend_ahead(*part, StepAhead { stage: Stage::Request, ..step }).unwrap_or(0),
        Meter::Count { .. } | Meter::Window | Meter::Silence => 0,
    }
}

/// Returns how many requests are taken to come: those under way, the next, and what follows it for sure.
fn requests_ahead(step: StepAhead) -> u64 {
    let at = |stage| spend_ahead(|spend| spend.requests, StepAhead { stage, ..step }).unwrap_or(0);
    at(Stage::Request).max(at(step.stage))
}

/// Returns a trip that is asked about now with the figures of this moment: more may have been charged since, and the response that
/// asks for the call counts by its estimate until it is. With its own where those of the moment would not say why it asks.
pub fn at_hand(trip: &Finding, used: &ScopeUsage) -> Finding {
    let rule = used.limits.limits.iter().find(|rule| rule.is_source(&trip.source) && trip.spent_by_requests());
    let Some(rule) = rule else { return trip.clone() };
    let meters = used.meters_of(rule);
    let missing_usage = rule.limit.meter.part(&meters.missing_usage);
    let is_asked = trip.action == Action::RequestIncrease;
    let step = StepAhead { rules: used.limits, meters, stage: Stage::Request, is_asked };
    let (spent, ahead) = (rule.limit.used(meters).saturating_add(missing_usage), next_request(rule, step));
    if spent.saturating_add(ahead) <= rule.cap {
        return trip.clone();
    }
    let cold = cold_ahead(rule.limit, meters);
    let lacks = spent.saturating_add(ahead).saturating_add(cold).saturating_sub(rule.cap);
    let increase = trip.increase.max(rule.sufficient_increase(lacks));
    let requests_ahead = requests_ahead(step);
    Finding { used: trip.used.max(spent), missing_usage, ahead, cold, requests_ahead, increase, ..trip.clone() }
}

/// Returns a trip with what is used of its limit by now.
pub fn as_used(trip: &Finding, scopes: &[ScopeUsage]) -> Finding {
    let scope = scopes.iter().find(|used| used.is_of(trip));
    let rule = scope.and_then(|used| Some((used, used.limits.source(&trip.source)?)));
    let used = rule.map(|(used, rule)| rule.limit.used(used.meters_of(rule)));
    Finding { used: used.unwrap_or(trip.used), ..trip.clone() }
}

/// Whether an agent has to wait before it starts: nothing is known of what others will spend that were just started, and what
/// they and it may spend does not fit into a cap.
pub fn waits(rule: &LimitRule, at: RuleContext) -> bool {
    let step = step_of(rule, &at);
    let meters = step.meters;
    let Meter::Spend { part, .. } = &rule.limit.meter else { return false };
    let UnknownFirsts { others, own } = meters.unknown;
    if at.stage != Stage::Spawn || others.requests == 0 || rule.action == Action::Warn {
        return false;
    }
    let ahead = spend_ahead(*part, step).unwrap_or(0);
    // What counts requests knows what a first one adds.
    let known = part(&meters.next).min(part(&own));
    let unknown = part(&Spend { requests: 0, ..others }).saturating_add(part(&own) - known);
    unknown > 0 && rule.limit.used(meters).saturating_add(ahead).saturating_add(unknown) > rule.cap
}

/// Says what keeps work from a limit over what sessions share.
fn says(scope: &ScopeUsage, limit: &Limit, reached: Reached) -> LimitReason {
    scope.shared_budget.map(|budget| budget.reason_of(limit, reached)).unwrap_or_default()
}

/// Says when the period of a rule begins anew.
fn frees(rule: &LimitRule, scope: &ScopeUsage) -> Frees {
    scope
        .shared_budget
        .and_then(|budget| budget.resets(rule.limit))
        .map_or(Frees::Never, |moment| Frees::At(moment.to_owned()))
}

/// Looks at one rate: a trip, where what is about to happen does not fit into the window.
pub fn evaluate_rate(rate: &Rate, at: RuleContext) -> Option<Finding> {
    let (happens, model) = match (at.occasion.activity, at.stage) {
        (Activity::Call(call), _) => (rate.counts_tool(&call.tool), ""),
        (_, Stage::Request | Stage::Prompt | Stage::End) => (rate.counts_requests(), at.model),
        _ => (false, ""),
    };
    if !happens {
        return None;
    }
    // A response that is over and not on disk yet was a request all the same.
    let more = if rate.counts_requests() { at.scope.meters.late } else { 0 };
    let reading = at.scope.windows.read_ahead(rate, model, at.occasion.at, more);
    if reading.frees_in_ms == 0 {
        return None;
    }
    let what = match (model, rate.tool.as_str()) {
        ("", "") => "one model",
        ("", tool) => tool,
        (model, _) => model,
    };
    let source = FindingSource::Limit(rate.limit);
    let LimitReason { subject, frees, wait_ms } =
        says(at.scope, rate.limit, Reached { used: reading.used, cap: rate.max, ahead: 0 });
    let finding = Finding {
        used: reading.used,
        cap: rate.max,
        subject: if subject.is_empty() { format!("{what} in {}", duration::to_pass(rate.per_ms)) } else { subject },
        frees: frees.unwrap_or_else(|| Frees::In(duration::to_pass(reading.frees_in_ms))),
        above: at.scope.above.to_owned(),
        frees_in_ms: reading.frees_in_ms,
        wait_ms: if rate.on_limit == OnLimit::Wait { reading.frees_in_ms } else { wait_ms },
        ..Finding::bare(source, at.scope.scope, rate.action, rate.layer)
    };
    let told = |finding: &Finding| at.told.iter().any(|(name, _)| *name == finding.told_as());
    (rate.action != Action::Warn || !told(&finding)).then_some(finding)
}

/// Returns the model responses that a tripped run may still use to report.
pub fn grace(usage: &Usage, event: &Event, finding: &Finding) -> u32 {
    let timed_out = match &event.kind {
        EventKind::ToolEnded(_, CallOutcome { background: Some(background), .. }) => background.timed_out,
        _ => false,
    };
    let blind = usage.scopes.first().is_some_and(|run| run.meters.blind_to_batches);
    let scope = usage.scopes.iter().find(|used| used.is_of(finding));
    let rule = scope.and_then(|used| used.limits.limits.iter().find(|rule| rule.is_source(&finding.source)));
    let has_room = |(scope, rule): (&ScopeUsage, &LimitRule)| {
        leaves_room(rule.limit, finding.used, finding.cap, scope.meters_of(rule))
    };
    let fits = !matches!(finding.limit().map(|limit| &limit.meter), Some(Meter::Window))
        && scope.zip(rule).is_none_or(has_room);
    if timed_out || blind || !fits || usage.arrives {
        return 0;
    }
    // What the user and the project share says nothing of reports: the session does.
    let speaks =
        |scope: Scope| usage.scopes.iter().find(|used| used.scope == scope).map(|used| used.limits.grace_turns);
    let scope = if finding.scope == Scope::Run { Scope::Run } else { Scope::Session };
    speaks(scope).unwrap_or(0)
}
