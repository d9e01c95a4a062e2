//! What is counted, as numbers.

use std::ops::{Add, AddAssign, Mul};

use serde::{Deserialize, Serialize};

use crate::engine::amount::Amount;

/// What model requests spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u64, u64, u64, Amount)", from = "(u64, u64, u64, Amount)")]
pub struct Spend {
    /// Model requests: distinct `message.id`.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Cache-read tokens.
    pub cache_reads: u64,
    /// List price.
    pub cost: Amount,
}

impl From<Spend> for (u64, u64, u64, Amount) {
    fn from(spend: Spend) -> Self {
        (spend.requests, spend.tokens, spend.cache_reads, spend.cost)
    }
}

impl From<(u64, u64, u64, Amount)> for Spend {
    fn from((requests, tokens, cache_reads, cost): (u64, u64, u64, Amount)) -> Self {
        Spend { requests, tokens, cache_reads, cost }
    }
}

impl Spend {
    /// Returns the spend with cache reads counted as tokens where `count` says so.
    pub fn counting_cache_reads(self, count: bool) -> Spend {
        Spend { tokens: self.tokens + if count { self.cache_reads } else { 0 }, ..self }
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

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Spend) {
        *self = *self + other;
    }
}

/// The meters of one scope at one moment: all that a limit may look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meters {
    /// Tool calls.
    pub turns: u64,
    /// What requests have spent.
    pub spent: Spend,
    /// What other requests in flight are expected to spend.
    pub reserved: Spend,
    /// What the next request is expected to spend.
    pub next: Spend,
    /// Working time in milliseconds.
    pub duration_ms: u64,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Whether the ends of batches are not seen, so that requests have to be decided at calls.
    pub blind_to_batches: bool,
}
