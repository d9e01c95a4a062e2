//! What has been counted over a scope: a run or a session.

use serde::{Deserialize, Serialize};

use crate::domain::meters::Spend;
use crate::domain::serde_default::is_default;

/// What has been counted over a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Tool calls.
    pub turns: u64,
    /// What requests spent.
    pub spent: Spend,
    /// What of it is estimated for requests that no transcript shows.
    #[serde(rename = "hidden", default, skip_serializing_if = "is_default")]
    pub unlogged: Spend,
    /// Working time in milliseconds.
    pub duration_ms: u64,
    /// Responses that events say are over. An agent can add rows to its transcript, but no events.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over: u64,
    /// The most that one response has spent, count by count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dearest: Spend,
    /// The most that one of those has spent on average. Rows that are added to a transcript do not lower it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub typical: Spend,
}

impl Counters {
    /// Returns how many responses transcripts have shown, or should have.
    pub fn responses(&self) -> u64 {
        self.spent.requests.saturating_sub(self.unlogged.requests)
    }
}
