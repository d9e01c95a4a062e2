//! The counters of a run or a session.

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;
use crate::domain::stored::serde_default::is_default;

/// The counters of a run or a session. What is not written into its JSON is a column of the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Tool calls.
    #[serde(skip)]
    pub turns: u64,
    /// What requests spent.
    #[serde(skip)]
    pub spent: Spend,
    /// The part of it that is estimated for requests that no transcript shows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unlogged: Spend,
    /// Working time in milliseconds.
    #[serde(skip)]
    pub duration_ms: u64,
    /// Calls and requests that were held: until a rate had a slot, or a person let a paused run go on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub held: u64,
    /// For how long in all, in milliseconds; no working time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub held_ms: u64,
    /// Responses that have ended, by events. An agent can add rows to its transcript, but no events.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over: u64,
    /// The largest value of each count over all responses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dearest: Spend,
    /// The largest mean of a response so far. Rows that an agent adds to a transcript do not lower it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub typical: Spend,
}

impl Counters {
    /// Adds what another run has used.
    pub fn add(&mut self, other: &Counters) {
        let Counters { turns, spent, unlogged, duration_ms, held, held_ms, over, dearest, typical } = *other;
        self.turns += turns;
        self.spent += spent;
        self.unlogged += unlogged;
        self.duration_ms += duration_ms;
        self.held += held;
        self.held_ms += held_ms;
        self.over += over;
        self.dearest = self.dearest.max(dearest);
        self.typical = self.typical.max(typical);
    }

    /// Returns the number of responses that transcripts show or should show.
    pub fn responses(&self) -> u64 {
        self.spent.requests.saturating_sub(self.unlogged.requests)
    }
}

/// The tokens of single requests that limits look at. It is written as a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct TokenExtremes {
    /// Prompt tokens of the last request.
    pub last_prompt: u64,
    /// The most completion tokens of one request.
    pub most_output: u64,
}

impl From<(u64, u64)> for TokenExtremes {
    fn from((last_prompt, most_output): (u64, u64)) -> TokenExtremes {
        TokenExtremes { last_prompt, most_output }
    }
}

impl From<TokenExtremes> for (u64, u64) {
    fn from(extremes: TokenExtremes) -> (u64, u64) {
        (extremes.last_prompt, extremes.most_output)
    }
}
