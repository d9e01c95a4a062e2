//! The decision: what to answer to an event under a policy, given what has been used. Pure and total.

use std::cmp::Reverse;

use crate::engine::event::{Call, Event, Intent, Kind};
use crate::engine::look::{self, Look, grace, look, look_rate};
use crate::engine::meters::Meters;
use crate::engine::policy::{Action, Mode, Scope};
use crate::engine::pool::Pool;
use crate::engine::rates::Windows;
use crate::engine::rules::{Models, Rule, Rules};
use crate::engine::session::{Ask, Order, Phase};
use crate::engine::verdict::{Finding, Refusal, Step, Verdict};
use crate::limits::{Ends, ROSTER, Stage, Unit};

/// One scope's side of the usage.
#[derive(Clone, Debug)]
pub struct ScopeUsage<'a> {
    /// The scope.
    pub scope: Scope,
    /// Its rules.
    pub rules: &'a Rules,
    /// What is used.
    pub meters: Meters,
    /// What is used of some models, for the rules that count those.
    pub by_models: Vec<(&'a Models, Meters)>,
    /// Early warnings and warned trips so far.
    pub warned: &'a [(String, u8)],
    /// Trips that wait for a call to ask with.
    pub wants: &'a [Finding],
    /// What the rates have counted.
    pub windows: &'a Windows,
    /// What sessions share, where the scope is that.
    pub pool: Option<&'a Pool>,
}

impl ScopeUsage<'_> {
    /// Returns the meters that a rule reads.
    pub fn meters_of(&self, rule: &Rule) -> &Meters {
        let some = rule.of.as_ref().and_then(|of| self.by_models.iter().find(|(models, _)| *models == of));
        some.map_or(&self.meters, |(_, meters)| meters)
    }
}

/// What has been used, and the orders that stand.
#[derive(Clone, Debug)]
pub struct Usage<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Every scope, the run's first.
    pub scopes: Vec<ScopeUsage<'a>>,
    /// The order to end this run.
    pub order: Option<&'a Order>,
    /// Increases that a person is being asked for.
    pub asks: &'a [Ask],
    /// Whether a hook answers in a person's place, so that nobody is asked.
    pub has_stand_in: bool,
    /// Limits whose increase a person declined.
    pub declined: &'a [String],
    /// The agent that a message is for, where it may not go on: its run and its order.
    pub addressee: Option<(&'a str, &'a Order)>,
    /// Whether the message at hand wakes an agent that has ended.
    pub wakes: bool,
    /// Whether no admitted call has started the acting agent, and this is its first.
    pub arrives: bool,
    /// The model of the run's next request.
    pub model: &'a str,
    /// What the agent is sent back for at its end.
    pub missing: Vec<String>,
    /// What is missing where it is let go all the same.
    pub incomplete: Vec<Finding>,
}

/// Decides what to answer to `event`.
pub fn decide(mode: Mode, usage: &Usage, event: &Event) -> Verdict {
    let verdict = match (usage.order, &event.kind) {
        (Some(order), kind) if !tampers(kind) || order.phase == Phase::Halted => obey(order, kind, usage),
        (order, Kind::ToolRequested(Call { intent: Intent::Tampering { what }, .. })) => {
            let tampering = refuse(Step::Deny, Vec::new(), Refusal::Tampering { what: what.clone() });
            let judged = if order.is_none() { judge(usage, event) } else { Verdict::default() };
            let ends = matches!(judged.refusal, Some(Refusal::Tripped { .. }));
            if ends { judged } else { tampering }
        }
        (_, Kind::ToolRequested(_)) if let Some((run, order)) = usage.addressee => {
            let refusal = Refusal::Addressee { run: run.to_owned() };
            refuse(Step::Deny, vec![order.finding.clone()], refusal)
        }
        _ if !usage.missing.is_empty() => {
            refuse(Step::Deny, Vec::new(), Refusal::Missing { what: usage.missing.clone() })
        }
        _ if !usage.incomplete.is_empty() => {
            Verdict { step: Step::Warn, findings: usage.incomplete.clone(), ..Verdict::default() }
        }
        _ => judge(usage, event),
    };
    match mode {
        Mode::Enforce => verdict,
        Mode::Observe => Verdict { step: Step::Allow, clamp_ms: None, observed: true, ..verdict },
    }
}

fn tampers(kind: &Kind) -> bool {
    matches!(kind, Kind::ToolRequested(Call { intent: Intent::Tampering { .. }, .. }))
}

fn refuse(step: Step, findings: Vec<Finding>, refusal: Refusal) -> Verdict {
    Verdict { step, findings, refusal: Some(refusal), ..Verdict::default() }
}

/// Carries out an order that stands.
fn obey(order: &Order, kind: &Kind, usage: &Usage) -> Verdict {
    let finalizes = |tool: &str| usage.scopes.first().is_some_and(|run| run.rules.finalizes(tool));
    let grace = order.grace_left.saturating_sub(1);
    let because = |step, grace| refuse(step, vec![order.finding.clone()], Refusal::Ordered { grace });
    match (order.phase, kind) {
        (Phase::Refusing, Kind::ToolRequested(_)) => because(Step::Deny, order.grace_left),
        (Phase::Reporting, Kind::ToolRequested(call)) if finalizes(&call.tool) => Verdict::default(),
        (Phase::Reporting, Kind::ToolRequested(_)) if grace > 0 => because(Step::Deny, grace),
        (Phase::Reporting, Kind::BatchEnded(_)) if grace == 0 => because(Step::Stop, 0),
        (Phase::Reporting | Phase::Halted, Kind::ToolRequested(_)) => because(Step::Stop, 0),
        (Phase::Halted, Kind::ToolEnded(..) | Kind::BatchEnded(_)) => because(Step::Stop, 0),
        (Phase::Halted, Kind::Prompt { notifications, .. }) => {
            let finding = &order.finding;
            let costs = finding.spent_by_requests() || finding.action == Action::Pause;
            match notifications.is_empty() || costs || matches!(finding.scope, Scope::Session | Scope::Outer) {
                true => because(Step::Deny, 0),
                false => Verdict { findings: vec![finding.clone()], step: Step::Warn, ..Verdict::default() },
            }
        }
        _ => Verdict::default(),
    }
}

/// Looks at every rule, and answers with the strictest.
fn judge(usage: &Usage, event: &Event) -> Verdict {
    let Some(stage) = stage_of(&event.kind, usage) else { return Verdict::default() };
    let mut findings = Vec::new();
    let wants_now = is_call(stage);
    let mut waits = false;
    let told = usage.scopes.first().map_or(&[][..], |run| run.warned);
    for used in usage.scopes.iter().filter(|used| stage != Stage::Prompt || used.scope != Scope::Run) {
        // What an agent that is about to start will spend is its own, so a spawn is a plain call to the run's own rules.
        let stage = if wants_now && used.scope == Scope::Run { Stage::Call } else { stage };
        let around = Look { used, stage, event, told, model: usage.model };
        waits |= used.rules.rules.iter().any(|rule| look::waits(rule, around));
        findings.extend(used.wants.iter().filter(|_| wants_now).cloned());
        findings.extend(used.rules.rules.iter().filter_map(|rule| look(rule, around)));
        findings.extend(used.rules.rates.iter().filter_map(|rate| look_rate(rate, around)));
    }
    findings.sort_by_cached_key(|finding| Reverse(strictness(usage, (event, stage), finding)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.limit.clone(), finding.scope);
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    let mut verdict = answer(usage, (event, stage), findings);
    if waits && verdict.step < Step::Ask {
        return refuse(Step::Deny, Vec::new(), Refusal::Waits);
    }
    if let (Kind::ToolRequested(Call { intent: Intent::Wait { timeout_ms }, .. }), Step::Allow | Step::Warn) =
        (&event.kind, verdict.step)
    {
        verdict.clamp_ms = time_left(usage).filter(|left| left < timeout_ms);
    }
    verdict
}

fn stage_of(kind: &Kind, usage: &Usage) -> Option<Stage> {
    match kind {
        // What lets a spawn through lets its agent through too.
        Kind::ToolRequested(Call { intent: Intent::Spawn { .. }, .. }) => Some(Stage::Spawn),
        Kind::ToolRequested(_) if usage.arrives => Some(Stage::Arrival),
        Kind::ToolRequested(Call { intent: Intent::Message { .. }, .. }) if usage.wakes => Some(Stage::Wake),
        Kind::ToolRequested(_) => Some(Stage::Call),
        Kind::ToolEnded(..) => Some(Stage::Result),
        Kind::BatchEnded(_) => Some(Stage::Request),
        Kind::Prompt { .. } => Some(Stage::Prompt),
        _ => None,
    }
}

fn is_call(stage: Stage) -> bool {
    matches!(stage, Stage::Call | Stage::Spawn | Stage::Wake | Stage::Arrival)
}

/// Whether a trip refuses its call alone. An agent that nobody was asked for is ended.
fn ends_call(finding: &Finding, stage: Stage) -> bool {
    stage != Stage::Arrival && finding.facts().is_some_and(|limit| limit.ends == Ends::Call)
}

/// What a finding's limit does here: nobody can be asked where nobody is there, has said No, or may raise it.
fn acts(usage: &Usage, event: &Event, finding: &Finding) -> Action {
    let raises = || {
        event.attended && !usage.has_stand_in && !usage.declined.contains(&finding.limit) && !is_locked(usage, finding)
    };
    match finding.action {
        Action::RequestIncrease if !raises() => Action::Terminate,
        action => action,
    }
}

fn is_locked(usage: &Usage, finding: &Finding) -> bool {
    let mut rules = usage.scopes.iter().filter(|used| used.scope == finding.scope).flat_map(|used| &used.rules.rules);
    rules.any(|rule| rule.locked && rule.name() == finding.limit)
}

/// How strict a finding is: what ends a session is stricter than what ends a run, and that than what ends the call alone.
/// Among equals the roster's order decides.
fn strictness(usage: &Usage, at: (&Event, Stage), finding: &Finding) -> (bool, u8, bool, Action, Reverse<usize>) {
    let action = acts(usage, at.0, finding);
    let ends = match action {
        Action::Warn => 0,
        Action::RequestIncrease => 1,
        Action::Terminate if ends_call(finding, at.1) => 2,
        Action::Pause | Action::Terminate => 3,
    };
    let wide = ends == 3 && finding.ends_session();
    let row = ROSTER.iter().position(|limit| Some(*limit) == finding.facts()).unwrap_or(0);
    (finding.is_trip(), ends, wide, action, Reverse(row))
}

/// Returns the model responses left to report: as few as the strictest of the limits that end the run leaves.
fn reports(usage: &Usage, at: (&Event, Stage), findings: &[Finding]) -> u32 {
    let trips = findings.iter().filter(|finding| finding.is_trip());
    let left = trips.filter_map(|finding| match acts(usage, at.0, finding) {
        Action::Pause => Some(0),
        Action::Terminate if !ends_call(finding, at.1) => Some(grace(usage, at, finding)),
        _ => None,
    });
    left.min().unwrap_or(0)
}

/// Answers with the strictest finding's action, as it works at this stage.
fn answer(usage: &Usage, at: (&Event, Stage), findings: Vec<Finding>) -> Verdict {
    let (event, stage) = at;
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = acts(usage, event, first);
    // Siblings of the asking call wait; another run asks with a dialog of its own, which holds it until it is answered.
    let same = |ask: &Ask| ask.finding.limit == first.limit && ask.finding.scope == first.scope;
    let asking = usage.asks.iter().any(|ask| !ask.granted && ask.run == usage.run_id && same(ask));
    let is_call = is_call(stage);
    let (step, refusal) = match (action, stage) {
        (Action::Warn, _) => (Step::Warn, None),
        (Action::RequestIncrease | Action::Pause | Action::Terminate, Stage::Prompt) => {
            (Step::Deny, Some(Refusal::Tripped { grace: 0 }))
        }
        (Action::RequestIncrease, _) if is_call && asking => (Step::Deny, Some(Refusal::Asking)),
        (Action::RequestIncrease, _) if is_call => (Step::Ask, None),
        (Action::RequestIncrease, _) => (Step::Allow, None),
        (Action::Terminate, _) if is_call && ends_call(first, stage) => (Step::Deny, Some(Refusal::Call)),
        (Action::Pause, _) => (Step::Stop, Some(Refusal::Tripped { grace: 0 })),
        (Action::Terminate, _) => {
            let grace = reports(usage, at, &findings);
            let step = match (grace, is_call) {
                (0, _) => Step::Stop,
                (_, true) => Step::Deny,
                (_, false) => Step::Warn,
            };
            (step, Some(Refusal::Tripped { grace }))
        }
    };
    Verdict { step, findings, refusal, ..Verdict::default() }
}

/// Returns the working or wall time left before a limit that stops this run.
fn time_left(usage: &Usage) -> Option<u64> {
    let left = usage.scopes.iter().flat_map(|used| {
        let stopping = used.rules.rules.iter().filter(|rule| matches!(rule.action, Action::Terminate | Action::Pause));
        let timed = stopping.filter(|rule| rule.limit.unit == Unit::Millis);
        timed.map(|rule| rule.cap.saturating_sub(rule.limit.used(&used.meters)).max(1))
    });
    left.min()
}
