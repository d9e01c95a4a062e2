//! What a session's own client has spent in all, and how charges at an estimate are told apart.

use crate::domain::session::Session;
use crate::domain::spend::meters::Spend;

impl Session {
    /// Returns all that its own client has spent, clients below it left out: a person may have set its counters to zero since.
    pub fn own_spend(&self) -> Spend {
        self.counters.spent.beyond(self.nested_spend) + self.spend_before_reset
    }

    /// Returns a name for the next charge at an estimate that has none of its own: it is given to no other, here or in another session.
    pub fn name_estimate(&mut self) -> String {
        // Earlier versions went by what was counted.
        self.estimates = self.estimates.max(self.counters.unlogged.requests) + 1;
        format!("{}:{}", self.id, self.estimates)
    }
}
