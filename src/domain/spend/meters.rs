//! What is counted, as numbers.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

use serde::{Deserialize, Serialize};

use crate::domain::plan_window::PlanPercent;
use crate::domain::spend::amount::Amount;
use crate::domain::stored::serde_default::is_default;

/// What model requests spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// Model requests: distinct `message.id`.
    #[serde(skip_serializing_if = "is_default")]
    pub requests: u64,
    /// Input, cache-write and output tokens.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: u64,
    /// Cache-read tokens.
    #[serde(rename = "cache_read_tokens", skip_serializing_if = "is_default")]
    pub cache_reads: u64,
    /// List price.
    #[serde(rename = "cost_pico_usd", skip_serializing_if = "is_default")]
    pub cost: Amount,
}

impl Spend {
    /// Returns the spend with cache reads counted as tokens where `count` says so.
    pub fn counting_cache_reads(self, count: bool) -> Spend {
        Spend { tokens: self.tokens + if count { self.cache_reads } else { 0 }, ..self }
    }

    /// Returns what is left of it beyond another, count by count.
    pub fn beyond(self, other: Spend) -> Spend {
        Spend {
            requests: self.requests.saturating_sub(other.requests),
            tokens: self.tokens.saturating_sub(other.tokens),
            cache_reads: self.cache_reads.saturating_sub(other.cache_reads),
            cost: self.cost.minus(other.cost),
        }
    }

    /// Returns the larger of two, count by count.
    pub fn max(self, other: Spend) -> Spend {
        Spend {
            requests: self.requests.max(other.requests),
            tokens: self.tokens.max(other.tokens),
            cache_reads: self.cache_reads.max(other.cache_reads),
            cost: self.cost.max(other.cost),
        }
    }

    /// Returns the smaller of two, count by count.
    pub fn min(self, other: Spend) -> Spend {
        Spend {
            requests: self.requests.min(other.requests),
            tokens: self.tokens.min(other.tokens),
            cache_reads: self.cache_reads.min(other.cache_reads),
            cost: self.cost.min(other.cost),
        }
    }

    /// Returns what so much money would have bought in its own proportions; at least one request.
    pub fn worth(self, cost: Amount) -> Spend {
        let part = |count: u64| {
            let part = u128::from(count) * u128::from(cost.0) / u128::from(self.cost.0.max(1));
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        Spend {
            requests: part(self.requests).max(1),
            tokens: part(self.tokens),
            cache_reads: part(self.cache_reads),
            cost,
        }
    }

    /// Returns the average of its requests.
    pub fn mean(self) -> Spend {
        let count = self.requests.max(1);
        Spend {
            requests: 1,
            tokens: self.tokens / count,
            cache_reads: self.cache_reads / count,
            cost: Amount(self.cost.0 / count),
        }
    }
}

impl Mul<u64> for Spend {
    type Output = Spend;
    fn mul(self, times: u64) -> Spend {
        Spend {
            requests: self.requests.saturating_mul(times),
            tokens: self.tokens.saturating_mul(times),
            cache_reads: self.cache_reads.saturating_mul(times),
            cost: self.cost * times,
        }
    }
}

impl Add for Spend {
    type Output = Spend;
    fn add(self, other: Spend) -> Spend {
        Spend {
            requests: self.requests.saturating_add(other.requests),
            tokens: self.tokens.saturating_add(other.tokens),
            cache_reads: self.cache_reads.saturating_add(other.cache_reads),
            cost: self.cost + other.cost,
        }
    }
}

impl Sum for Spend {
    fn sum<I: Iterator<Item = Spend>>(spends: I) -> Spend {
        spends.fold(Spend::default(), Add::add)
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Spend) {
        *self = *self + other;
    }
}

/// What was spent in each stretch of the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Periods {
    /// Since midnight.
    pub day: Spend,
    /// Since Monday.
    pub week: Spend,
    /// Since the first of the month.
    pub month: Spend,
}

/// The meters of a run and of its session.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunAndSession {
    /// Those of the run.
    pub run: Meters,
    /// Those of its session.
    pub session: Meters,
}

/// What is to be asked that no transcript shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlogged {
    /// By the call at hand.
    pub of_call: Spend,
    /// By hooks after it, or once the prompt at hand is sent.
    pub hooks_ahead: Spend,
    /// By hooks at the response to the next request.
    pub hooks_of_response: Spend,
    /// By them where that response makes a call.
    pub hooks_of_calls: Spend,
    /// By hooks at the response to a request of another agent's.
    pub hooks_of_others: Spend,
}

/// What first requests of which nothing is known may spend beyond what is reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownFirsts {
    /// Those in flight.
    pub others: Spend,
    /// The one at hand.
    pub own: Spend,
}

/// The meters of one scope at one moment: all that a limit may look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meters {
    /// Tool calls.
    pub turns: u64,
    /// What requests have spent.
    pub spent: Spend,
    /// What is held back: for other requests in flight, and for what the next one costs beyond the usual.
    pub reserved: Spend,
    /// What other requests in flight are expected to spend.
    pub under_way: Spend,
    /// What the next request is expected to spend.
    pub next: Spend,
    /// What the other agents at work would spend until each of them asks a person for more: a request each.
    pub questions: Spend,
    /// What the next request would spend where the cache has lost its conversation by then.
    pub cold: Spend,
    /// What the response that asks for the call at hand is taken for, where it is not on disk yet.
    pub missing_usage: Spend,
    /// What first requests of which nothing is known may spend beyond what is reserved.
    pub unknown: UnknownFirsts,
    /// What the call at hand would have the client ask that no transcript shows.
    pub unlogged: Spend,
    /// What hooks will ask where the call at hand runs, with those of its batch that were let run before it; or where the prompt at hand is sent.
    pub hooks_ahead: Spend,
    /// What hooks will ask at the response to the next request, before any of them can be refused.
    pub hooks_of_response: Spend,
    /// What hooks will ask at that response where it makes a call, so that another response may follow.
    pub hooks_of_calls: Spend,
    /// What the limit that is looked at has counted for itself.
    pub own: u64,
    /// Working time in milliseconds.
    pub duration_ms: u64,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Most completion tokens of one request.
    pub completion: u64,
    /// Prompt tokens of the last request.
    pub prompt: u64,
    /// How far a repetition has come: 1 once it is one, 2 when it goes on after the agent was told.
    pub repetition: u64,
    /// How far a repetition has come where nobody would tell the agent of it first.
    pub untold_repetition: u64,
    /// Responses of the run that are over and not on disk yet.
    pub late: u64,
    /// Batches in a row in which something was refused.
    pub denials: u64,
    /// The depth of the acting agent; the main agent is at 0.
    pub depth: u64,
    /// Subagents at work, those asked for included.
    pub subagents_at_work: u64,
    /// Subagents that have begun or were asked for.
    pub subagents: u64,
    /// What was spent in the current day, week and month.
    pub periods: Periods,
    /// How much of the windows of the user's plan is used, in per cent.
    pub plan: PlanPercent,
    /// Whether the ends of batches are not seen, so that requests have to be decided at calls.
    pub blind_to_batches: bool,
}

impl Meters {
    /// Returns them as a limit reads them that counts an agent's responses alone, where so much was asked besides.
    pub fn of_responses_alone(self, besides: Spend) -> Meters {
        let none = Spend::default();
        Meters {
            spent: self.spent.beyond(besides),
            unlogged: none,
            hooks_ahead: none,
            hooks_of_response: none,
            hooks_of_calls: none,
            ..self
        }
    }
}
