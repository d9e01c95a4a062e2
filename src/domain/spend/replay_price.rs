//! What sending a conversation again costs.

use serde::{Deserialize, Serialize};

/// What sending a conversation again costs, in pico-dollars a token. It is written as a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct ReplayPrice {
    /// A token of the conversation, read from the cache.
    pub cache_read: u64,
    /// A token of the answer.
    pub output: u64,
}

impl ReplayPrice {
    /// Returns what a token costs that is written to the cache again, for an hour or for five minutes: in every list price it is the
    /// same part of one of output.
    pub fn cache_write(self, is_for_an_hour: bool) -> u64 {
        if is_for_an_hour { self.output.saturating_mul(2) / 5 } else { self.output / 4 }
    }
}

impl From<(u64, u64)> for ReplayPrice {
    fn from((cache_read, output): (u64, u64)) -> ReplayPrice {
        ReplayPrice { cache_read, output }
    }
}

impl From<ReplayPrice> for (u64, u64) {
    fn from(price: ReplayPrice) -> (u64, u64) {
        (price.cache_read, price.output)
    }
}
