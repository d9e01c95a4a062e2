//! The decision: what to answer to an event under a policy, given what has been used. Pure and total.

use std::cmp::Reverse;

use crate::domain::action::Action;
use crate::domain::bounds;
use crate::domain::event::{Call, Event, EventKind, Intent};
use crate::domain::limit_meter::Stage;
use crate::domain::mode::Mode;
use crate::domain::refusal::Refusal;
use crate::domain::scope::Scope;
use crate::domain::session::{Order, Phase};
use crate::domain::usage::{Barred, Occasion, Onset, Usage, used_of};
use crate::domain::verdict::{Decision, Finding, Verdict};
use crate::engine::evaluate::{RuleContext, at_hand, evaluate_rate, evaluate_rule};
use crate::engine::evaluate_limits::{acts, ends_call, evaluate_limits, findings, place};
use crate::engine::spend_ahead::{leaves_room, leaves_room_for_call};

/// Decides what to answer to `event`.
pub fn decide(mode: Mode, usage: &Usage, event: &Event) -> Verdict {
    let verdict = match (usage.order, &event.kind) {
        (Some(order), kind) if !tampers(kind) || order.phase == Phase::Halted => obey(order, event, usage),
        (_, EventKind::ToolRequested(Call { intent: Intent::Tampering { what }, .. })) => {
            let refusal = Refusal::Tampering { what: what.clone() };
            unless_ended(Verdict::refusing(Decision::Deny, Vec::new(), refusal), usage, event)
        }
        (_, EventKind::ToolRequested(_)) if let Some(barred) = &usage.barred => {
            // Nobody is woken.
            unless_ended(refuse_message(barred), &Usage { wakes: false, ..usage.clone() }, event)
        }
        _ if let Some(finding) = ends_for_good(usage, event) => {
            Verdict::refusing(Decision::Stop, vec![finding], Refusal::NotProlonged)
        }
        _ if !usage.missing.is_empty() => {
            Verdict::refusing(Decision::Deny, Vec::new(), Refusal::Missing { what: usage.missing.clone() })
        }
        _ if !usage.incomplete.is_empty() => {
            Verdict { decision: Decision::Warn, findings: usage.incomplete.clone(), ..Verdict::default() }
        }
        _ => refuse_unread(evaluate_limits(usage, event), usage, event),
    };
    let verdict = refuse_not_by_limit(verdict, usage, event);
    match mode {
        Mode::Enforce => verdict,
        Mode::Observe => verdict.only_observed(),
    }
}

/// Returns the refusal of a call, unless a limit ends the run at it: what is refused again and again is ended as well.
fn unless_ended(refused: Verdict, usage: &Usage, event: &Event) -> Verdict {
    let verdict = if usage.order.is_none() { evaluate_limits(usage, event) } else { Verdict::default() };
    let ends = matches!(verdict.refusal, Some(Refusal::Tripped { .. }));
    if ends { verdict } else { refused }
}

fn refuse_message(barred: &Barred) -> Verdict {
    let refusal = Refusal::Addressee { run: barred.run.to_owned(), ended: barred.ended };
    Verdict::refusing(Decision::Deny, vec![barred.finding.clone()], refusal)
}

/// Refuses calls, prompts and compactions for the reason beside limits that was found, unless a limit refuses them already.
fn refuse_not_by_limit(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    match usage.refusal_reason.filter(|_| goes_on(&event.kind) && verdict.decision < Decision::Deny) {
        Some(why) => Verdict::refusing(Decision::Deny, Vec::new(), Refusal::NotByLimit { why: why.to_owned() }),
        None => verdict,
    }
}

fn goes_on(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolRequested(_) | EventKind::Prompt { .. } | EventKind::Compacting)
}

/// Holds calls and prompts back while rows are unread; what ends the run, or refuses them for good, comes first.
fn refuse_unread(verdict: Verdict, usage: &Usage, event: &Event) -> Verdict {
    if usage.unread == 0 || !goes_on(&event.kind) || verdict.decision >= Decision::Deny {
        return verdict;
    }
    Verdict::refusing(Decision::Deny, Vec::new(), Refusal::Unread { bytes: usage.unread })
}

fn tampers(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolRequested(Call { intent: Intent::Tampering { .. }, .. }))
}

/// Finds the strictest limit that keeps a turn from being prolonged. The agent has ended by itself, so nothing is ordered.
fn ends_for_good(usage: &Usage, event: &Event) -> Option<Finding> {
    event.ending().filter(|ending| ending.again)?;
    let mut trips = findings(usage, event, Stage::End);
    trips.retain(|finding| {
        finding.is_trip() && acts(usage, event, finding) > Action::Warn && !ends_call(usage, finding)
    });
    trips.into_iter().next()
}

/// Carries out an order that stands.
fn obey(order: &Order, event: &Event, usage: &Usage) -> Verdict {
    let finalizes = |tool: &str| usage.scopes.first().is_some_and(|run| run.limits.finalizes(tool));
    let grace = order.grace_left.saturating_sub(1);
    let because = |decision, grace| {
        Verdict::refusing(decision, vec![with_used_by_now(&order.finding, usage)], Refusal::Ordered { grace })
    };
    match (order.phase, &event.kind) {
        (Phase::Refusing, EventKind::ToolRequested(_)) => because(Decision::Deny, order.grace_left),
        (Phase::Reporting, EventKind::ToolRequested(call))
            if finalizes(&call.tool) && order.report_calls < bounds::REPORT_CALLS =>
        {
            verdict_on_report_call(usage, because(Decision::Deny, order.grace_left))
        }
        (Phase::Reporting, EventKind::ToolRequested(_)) if grace > 0 => because(Decision::Deny, grace),
        (Phase::Reporting, EventKind::BatchEnded(_)) if grace == 0 => because(Decision::Stop, 0),
        (Phase::Refusing | Phase::Reporting, EventKind::BatchEnded(_)) if !fits(usage, event) => {
            because(Decision::Stop, 0)
        }
        // Nothing else has told the agent that its report is due.
        (Phase::Refusing, EventKind::BatchEnded(_)) if usage.adopts => because(Decision::Warn, order.grace_left),
        (Phase::Reporting | Phase::Halted, EventKind::ToolRequested(_)) => because(Decision::Stop, 0),
        // What comes next of it is held.
        (_, EventKind::ToolEnded(..)) if order.hold_left_ms(event.at, usage.pause_wait_ms) > 0 => Verdict::default(),
        (Phase::Halted, EventKind::ToolEnded(..) | EventKind::BatchEnded(_)) => because(Decision::Stop, 0),
        (_, EventKind::SubagentEnded(ending) | EventKind::Stopped { ending, .. }) if ending.again => {
            because(Decision::Stop, 0)
        }
        // What lies between two turns of a stopped run is the session's: the next prompt begins a run of its own.
        (_, EventKind::Compacting) if is_of_turn(order, usage) => evaluate_limits(usage, event),
        (_, EventKind::Compacting) => because(Decision::Deny, 0),
        // A run whose loop has ended has no report left to give.
        (phase, EventKind::Prompt { .. }) if phase == Phase::Halted || usage.onset == Onset::GoesOn => {
            obey_at_prompt(order, because(Decision::Deny, 0), event, usage)
        }
        _ => Verdict::default(),
    }
}

/// Whether an order ends with the turn that it was given in: what comes before the next prompt is decided by the limits alone.
fn is_of_turn(order: &Order, usage: &Usage) -> bool {
    let lasts = matches!(order.finding.scope, Scope::Session | Scope::Outer);
    !lasts && order.finding.action != Action::Pause && usage.onset != Onset::Joins
}

/// Answers a prompt to a run that has ended: it is blocked, or begins an answer in words alone.
fn obey_at_prompt(order: &Order, blocked: Verdict, event: &Event, usage: &Usage) -> Verdict {
    let EventKind::Prompt { notifications, by_machine, .. } = &event.kind else { return Verdict::default() };
    let finding = &order.finding;
    let costs = finding.spent_by_requests() || finding.action == Action::Pause;
    // Each line of a command that is watched would begin a response.
    let goes_on = notifications.iter().all(|notification| notification.is_line);
    if goes_on || costs || matches!(finding.scope, Scope::Session | Scope::Outer) {
        let is_persons = !by_machine && notifications.is_empty();
        return if is_persons { at_this_prompt(blocked, usage) } else { blocked };
    }
    match evaluate_limits(usage, event) {
        // Its answer in words is a request, too.
        verdict if verdict.refusal.is_some() => Verdict::refusing(Decision::Deny, verdict.findings, Refusal::Blocked),
        _ => Verdict { decision: Decision::Warn, findings: blocked.findings, ..Verdict::default() },
    }
}

/// Returns the finding of an order with what is used by now: more may have been spent since it was given.
fn with_used_by_now(finding: &Finding, usage: &Usage) -> Finding {
    Finding { used_by_now: finding.used_by_now.max(used_of(&usage.scopes, finding)), ..finding.clone() }
}

/// Tells of an order that blocks a person's prompt with the figures of the prompt's moment, not of the stop's.
fn at_this_prompt(blocked: Verdict, usage: &Usage) -> Verdict {
    let at_hand_now = |finding: Finding| {
        let scope = usage.scopes.iter().find(|used| used.is_of(&finding));
        let rule = scope.and_then(|used| Some((used, used.limits.source(&finding.source)?)));
        match rule.filter(|_| finding.spent_by_requests()) {
            Some((used, rule)) => at_hand(&Finding { cap: rule.cap, ..finding }, used),
            None => finding,
        }
    };
    Verdict { findings: blocked.findings.into_iter().map(at_hand_now).collect(), ..blocked }
}

/// Answers a call by which a stopped agent reports: it runs, unless it would have somebody asked for whom there is no room.
fn verdict_on_report_call(usage: &Usage, refused: Verdict) -> Verdict {
    match &usage.barred {
        Some(barred) => refuse_message(barred),
        None if has_room_for_call(usage) => Verdict::default(),
        None => refused,
    }
}

/// Whether what the call of a report brings fits into every budget that requests use up.
fn has_room_for_call(usage: &Usage) -> bool {
    usage.scopes.iter().all(|used| {
        let mut stops = used.limits.limits.iter().filter(|rule| rule.action != Action::Warn);
        stops.all(|rule| leaves_room_for_call(rule, used.meters_of(rule), usage.wakes))
    })
}

/// Whether the next request fits into every budget that requests use up: what reports leaves no room for more than it.
fn fits(usage: &Usage, event: &Event) -> bool {
    usage.scopes.iter().all(|used| {
        used.limits.limits.iter().filter(|rule| rule.action != Action::Warn).all(|rule| {
            let meters = used.meters_of(rule);
            leaves_room(rule.limit, rule.limit.used(meters), rule.cap, meters)
        }) && used.limits.rates.iter().all(|rate| {
            let at = RuleContext {
                scope: used,
                stage: Stage::Request,
                arrives: false,
                attended: event.attended,
                occasion: Occasion::of(event),
                told: &[],
                model: usage.model,
            };
            rate.action == Action::Warn || evaluate_rate(rate, at).is_none()
        })
    })
}

/// Finds the limit of a scope that leaves no room for a request, at a stage of the work.
pub fn no_room(around: RuleContext) -> Option<Finding> {
    let found = around.scope.limits.limits.iter().filter_map(|rule| evaluate_rule(rule, around));
    let trips = found.filter(Finding::does_more_than_warn);
    trips.max_by_key(|finding| (finding.action, Reverse(place(finding))))
}
