//! The decision: what to answer to an event under a policy, given what has been used. Pure and total.

use crate::engine::event::{Call, Event, Intent, Kind, Outcome};
use crate::engine::meters::{Meters, Spend};
use crate::engine::policy::{Action, Mode, Rule, Rules, Scope};
use crate::engine::session::{Ask, Order, Phase};
use crate::engine::verdict::{Finding, Refusal, Step, Verdict};
use crate::limits::{Meter, Stage, Unit};

/// The rules in force for an event.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// Whether Fusebox blocks.
    pub mode: Mode,
    /// The run's rules.
    pub run: &'a Rules,
    /// The session's rules.
    pub session: &'a Rules,
}

/// One scope's side of the usage.
#[derive(Clone, Copy, Debug)]
pub struct ScopeUsage<'a> {
    /// What is used.
    pub meters: Meters,
    /// Early warnings and warned trips so far.
    pub warned: &'a [(String, u8)],
    /// Trips that wait for a call to ask with.
    pub wants: &'a [Finding],
}

/// What has been used, and the orders that stand.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Over the run.
    pub run: ScopeUsage<'a>,
    /// Over the session.
    pub session: ScopeUsage<'a>,
    /// The order to end this run.
    pub order: Option<&'a Order>,
    /// Increases that a person is being asked for.
    pub asks: &'a [Ask],
    /// Limits whose increase a person declined.
    pub declined: &'a [String],
    /// The agent that a message is for, where it may not go on: its run and its order.
    pub addressee: Option<(&'a str, &'a Order)>,
}

/// Decides what to answer to `event`.
pub fn decide(policy: &Policy, usage: &Usage, event: &Event) -> Verdict {
    let verdict = match (usage.order, &event.kind) {
        (_, Kind::ToolRequested(Call { intent: Intent::Tampering { what }, .. })) => {
            refuse(Step::Deny, Vec::new(), Refusal::Tampering { what: what.clone() })
        }
        (Some(order), kind) => obey(order, kind, policy.run),
        (None, Kind::ToolRequested(_)) if let Some((run, order)) = usage.addressee => {
            let refusal = Refusal::Addressee { run: run.to_owned() };
            refuse(Step::Deny, vec![order.finding.clone()], refusal)
        }
        (None, _) => judge(policy, usage, event),
    };
    match policy.mode {
        Mode::Enforce => verdict,
        Mode::Observe => Verdict { step: Step::Allow, clamp_ms: None, observed: true, ..verdict },
    }
}

fn refuse(step: Step, findings: Vec<Finding>, refusal: Refusal) -> Verdict {
    Verdict { step, findings, refusal: Some(refusal), ..Verdict::default() }
}

/// Carries out an order that stands.
fn obey(order: &Order, kind: &Kind, rules: &Rules) -> Verdict {
    let grace = order.grace_left.saturating_sub(1);
    let because = |step, grace| refuse(step, vec![order.finding.clone()], Refusal::Ordered { grace });
    match (order.phase, kind) {
        (Phase::Refusing, Kind::ToolRequested(_)) => because(Step::Deny, order.grace_left),
        (Phase::Reporting, Kind::ToolRequested(call)) if rules.finalizes(&call.tool) => Verdict::default(),
        (Phase::Reporting, Kind::ToolRequested(_)) if grace > 0 => because(Step::Deny, grace),
        (Phase::Reporting, Kind::BatchEnded(_)) if grace == 0 => because(Step::Stop, 0),
        (Phase::Reporting | Phase::Halted, Kind::ToolRequested(_)) => because(Step::Stop, 0),
        (Phase::Halted, Kind::ToolEnded(..) | Kind::BatchEnded(_)) => because(Step::Stop, 0),
        (Phase::Halted, Kind::Prompt { notification, .. }) => {
            let finding = &order.finding;
            let costs = finding.spent_by_requests() || finding.action == Action::Pause;
            match notification.is_none() || costs || finding.scope == Scope::Session {
                true => because(Step::Deny, 0),
                false => Verdict { findings: vec![finding.clone()], step: Step::Warn, ..Verdict::default() },
            }
        }
        _ => Verdict::default(),
    }
}

/// Looks at every rule, and answers with the strictest.
fn judge(policy: &Policy, usage: &Usage, event: &Event) -> Verdict {
    let Some(stage) = stage_of(&event.kind) else { return Verdict::default() };
    let mut findings = Vec::new();
    let run_matters = stage != Stage::Prompt;
    let wants_now = matches!(stage, Stage::Call | Stage::Spawn);
    let both = [(Scope::Run, policy.run, &usage.run), (Scope::Session, policy.session, &usage.session)];
    for (scope, rules, used) in both.into_iter().filter(|(scope, ..)| run_matters || *scope == Scope::Session) {
        // What an agent that is about to start will spend is its own, so a spawn is a plain call to the run's own rules.
        let stage = if stage == Stage::Spawn && scope == Scope::Run { Stage::Call } else { stage };
        findings.extend(used.wants.iter().filter(|_| wants_now).cloned());
        findings.extend(rules.rules.iter().filter_map(|rule| look(rule, scope, (rules, used), stage)));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse((finding.is_trip(), finding.action)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.limit.clone(), finding.scope);
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    let mut verdict = answer(policy, usage, (event, stage), findings);
    if let (Kind::ToolRequested(Call { intent: Intent::Wait { timeout_ms }, .. }), Step::Allow | Step::Warn) =
        (&event.kind, verdict.step)
    {
        verdict.clamp_ms = time_left(policy, usage).filter(|left| left < timeout_ms);
    }
    verdict
}

fn stage_of(kind: &Kind) -> Option<Stage> {
    match kind {
        Kind::ToolRequested(Call { intent: Intent::Spawn { .. } | Intent::Message { .. }, .. }) => Some(Stage::Spawn),
        Kind::ToolRequested(_) => Some(Stage::Call),
        Kind::ToolEnded(..) => Some(Stage::Result),
        Kind::BatchEnded(_) => Some(Stage::Request),
        Kind::Prompt { .. } => Some(Stage::Prompt),
        _ => None,
    }
}

/// Looks at one rule: a trip, an early warning that was not given yet, or nothing.
fn look(rule: &Rule, scope: Scope, around: (&Rules, &ScopeUsage), stage: Stage) -> Option<Finding> {
    let (rules, usage) = around;
    let meters = &usage.meters;
    let used = rule.limit.used(meters);
    let given = |percent: u8| usage.warned.iter().any(|(limit, at)| limit == rule.limit.key && *at >= percent);
    let finding = |percent, used| Finding {
        limit: rule.limit.key.to_owned(),
        scope,
        used,
        cap: rule.cap,
        action: if percent < 100 { Action::Warn } else { rule.action },
        layer: rule.layer,
        percent,
        increase: rule.increase,
    };
    let adds = match &rule.limit.meter {
        Meter::Spend(part) => spend_ahead(*part, rules, meters, stage),
        Meter::Step { adds, .. } => adds(stage),
    };
    if adds.is_some_and(|adds| used.saturating_add(adds) > rule.cap) {
        return (rule.action != Action::Warn || !given(100)).then(|| finding(100, used));
    }
    let step = if rule.limit.spent_by_requests() { 0 } else { adds.unwrap_or(0) };
    let used = used.saturating_add(step);
    let reached = u128::from(used) * 100 / u128::from(rule.cap.max(1));
    let percent = rules.warn_at.iter().copied().filter(|at| u128::from(*at) <= reached).max()?;
    (!given(percent)).then(|| finding(percent, used))
}

/// Returns what the next request, the report after it and the requests in flight would add.
fn spend_ahead(part: fn(&Spend) -> u64, rules: &Rules, meters: &Meters, stage: Stage) -> Option<u64> {
    let next = part(&meters.next).saturating_mul(u64::from(rules.grace_turns) + 1);
    match stage {
        Stage::Request | Stage::Prompt | Stage::Spawn => Some(part(&meters.reserved).saturating_add(next)),
        Stage::Call if meters.blind_to_batches => Some(part(&meters.reserved).saturating_add(next)),
        Stage::Call => Some(0),
        Stage::Result => None,
    }
}

/// Answers with the strictest finding's action, as it works at this stage.
fn answer(policy: &Policy, usage: &Usage, at: (&Event, Stage), findings: Vec<Finding>) -> Verdict {
    let (event, stage) = at;
    let Some(first) = findings.first() else { return Verdict::default() };
    let action = match first.action {
        Action::RequestIncrease if !event.attended || usage.declined.contains(&first.limit) => Action::Terminate,
        action => action,
    };
    // Siblings of the asking call wait; another run asks with a dialog of its own, which holds it until it is answered.
    let same = |ask: &Ask| ask.finding.limit == first.limit && ask.finding.scope == first.scope;
    let asking = usage.asks.iter().any(|ask| ask.run == usage.run_id && same(ask));
    let is_call = matches!(stage, Stage::Call | Stage::Spawn);
    let (step, refusal) = match (action, stage) {
        (Action::Warn, _) => (Step::Warn, None),
        (Action::RequestIncrease | Action::Pause | Action::Terminate, Stage::Prompt) => {
            (Step::Deny, Some(Refusal::Tripped { grace: 0 }))
        }
        (Action::RequestIncrease, _) if is_call && asking => (Step::Deny, Some(Refusal::Asking)),
        (Action::RequestIncrease, _) if is_call => (Step::Ask, None),
        (Action::RequestIncrease, _) => (Step::Allow, None),
        (Action::Pause, _) => (Step::Stop, Some(Refusal::Tripped { grace: 0 })),
        (Action::Terminate, _) => {
            let grace = grace(policy, usage, event, first);
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

/// Returns the model responses that a tripped run may still use to report.
fn grace(policy: &Policy, usage: &Usage, event: &Event, finding: &Finding) -> u32 {
    let timed_out = match &event.kind {
        Kind::ToolEnded(_, Outcome { background: Some(background), .. }) => background.timed_out,
        _ => false,
    };
    let blind = usage.run.meters.blind_to_batches;
    let fits = match finding.facts().map(|limit| &limit.meter) {
        Some(Meter::Spend(part)) => {
            let meters = if finding.scope == Scope::Run { &usage.run.meters } else { &usage.session.meters };
            finding.used + part(&meters.reserved) + part(&meters.next) <= finding.cap
        }
        _ => true,
    };
    let rules = if finding.scope == Scope::Run { policy.run } else { policy.session };
    if timed_out || blind || !fits { 0 } else { rules.grace_turns }
}

/// Returns the working or wall time left before a limit that stops this run.
fn time_left(policy: &Policy, usage: &Usage) -> Option<u64> {
    let both = [(policy.run, &usage.run), (policy.session, &usage.session)];
    let left = both.into_iter().flat_map(|(rules, used)| {
        let stopping = rules.rules.iter().filter(|rule| matches!(rule.action, Action::Terminate | Action::Pause));
        let timed = stopping.filter(|rule| rule.limit.unit == Unit::Millis);
        timed.map(|rule| rule.cap.saturating_sub(rule.limit.used(&used.meters)).max(1))
    });
    left.min()
}
