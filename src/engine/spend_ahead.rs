//! What is to come where a limit on spend is looked at: the requests under way, the next one, and what follows it for sure.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Stage;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::spend::meters::{Meters, Spend};

/// Whether one more request fits between what is used of a limit and a cap, beside those in flight.
pub fn leaves_room(limit: &Limit, used: u64, cap: u64, meters: &Meters) -> bool {
    let part = |spend| limit.meter.part(spend);
    let ahead =
        part(&meters.reserved).saturating_add(part(&meters.next)).saturating_add(part(&meters.hooks_of_response));
    !limit.spent_by_requests() || used.saturating_add(ahead) <= cap
}

/// Whether what a call brings itself fits under a rule's cap, beside the requests in flight: those of hooks, those that no transcript
/// shows, and that of an agent that it wakes.
pub fn leaves_room_for_call(rule: &LimitRule, meters: &Meters, wakes: bool) -> bool {
    let part = |spend| rule.limit.meter.part(spend);
    let woken = if wakes { part(&meters.next) } else { 0 };
    let brings = part(&meters.hooks_ahead).saturating_add(part(&meters.unlogged)).saturating_add(woken);
    let under_way = part(&meters.reserved).saturating_add(part(&meters.missing_usage));
    let used = rule.limit.used(meters).saturating_add(under_way);
    brings == 0 || !rule.limit.spent_by_requests() || used.saturating_add(brings) <= rule.cap
}

/// Returns what the next request would add besides that where the cache has lost its conversation by then.
pub fn cold_ahead(limit: &Limit, meters: &Meters) -> u64 {
    let part = |spend: &Spend| limit.meter.part(spend);
    let expected = part(&meters.next).saturating_add(part(&meters.reserved).saturating_sub(part(&meters.under_way)));
    part(&meters.cold).saturating_sub(expected)
}

/// A scope in which a next step is taken.
#[derive(Clone, Copy)]
pub struct StepAhead<'a> {
    /// The scope's rules.
    pub rules: &'a LimitSet,
    /// What it has used.
    pub meters: &'a Meters,
    /// Where the step stands in an agent's work.
    pub stage: Stage,
    /// Whether a person would be asked for more: each agent at work makes one request then, whose call asks.
    pub is_asked: bool,
}

/// Returns what the next request, the report after it, the requests in flight, hooks, and questions of others would add.
pub fn spend_ahead(part: fn(&Spend) -> u64, step: StepAhead) -> Option<u64> {
    let has_questions = step.is_asked && matches!(step.stage, Stage::Request | Stage::Spawn | Stage::Wake);
    let questions = if has_questions { part(&step.meters.questions) } else { 0 };
    let besides = questions.saturating_add(part(&step.meters.hooks_ahead));
    requests_of(part, step).map(|ahead| ahead.saturating_add(besides))
}

fn requests_of(part: fn(&Spend) -> u64, step: StepAhead) -> Option<u64> {
    let StepAhead { rules, meters, stage, .. } = step;
    let grace = u64::from(rules.grace_turns);
    // One that makes a call may be followed by another, and the last one ends the work.
    let each = part(&meters.next).saturating_add(part(&meters.hooks_of_calls));
    let last = part(&meters.next).saturating_add(part(&meters.hooks_of_response));
    let next = each.saturating_mul(grace).saturating_add(last);
    match stage {
        Stage::Request | Stage::Prompt | Stage::Spawn | Stage::Wake => {
            Some(part(&meters.reserved).saturating_add(next))
        }
        Stage::Call if meters.blind_to_batches => {
            Some(part(&meters.reserved).saturating_add(next).saturating_add(part(&meters.unlogged)))
        }
        // A call that is a request itself leaves room for the report.
        Stage::Call if meters.unlogged.requests > 0 => {
            let report = if grace > 0 { each.saturating_mul(grace - 1).saturating_add(last) } else { 0 };
            Some(part(&meters.reserved).saturating_add(report).saturating_add(part(&meters.unlogged)))
        }
        Stage::Call => Some(0),
        // Its last message is the report.
        Stage::End => Some(part(&meters.reserved).saturating_add(last)),
        Stage::Result => None,
    }
}
