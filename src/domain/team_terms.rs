//! The terms on which a session takes part in a team, as its policy says them, and what they come to where the store is silent.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::domain::time_units::MINUTE_MS;

/// How long what is left of a lease may be spent beyond its life, where nobody says. In milliseconds.
pub const MAX_STALENESS_MS: u64 = 15 * MINUTE_MS.cast_unsigned();
/// How often a hook begins a sync, where nobody says. In milliseconds.
pub const SYNC_INTERVAL_MS: u64 = 30_000;
/// How soon a sync may follow another where little is left. In milliseconds.
pub const SOONEST_SYNC_MS: u64 = 2_000;

/// What happens where the team's store has not been heard for longer than a lease lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStale {
    /// Work goes on without the team's cap.
    Allow,
    /// What is left of the lease is spent for a while; then work is refused.
    #[default]
    Warn,
    /// Work is refused.
    Deny,
}

/// What the policy of a session says of its team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamTerms {
    /// The team's name.
    pub name: String,
    /// What happens where the store is silent.
    pub on_stale: OnStale,
    /// For how long a lease may be spent beyond its life under [`OnStale::Warn`], in milliseconds.
    pub max_staleness_ms: u64,
    /// How often a hook begins a sync, in milliseconds.
    pub sync_interval_ms: u64,
    /// The machine's own ceiling for what the team spends; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Amount>,
    /// The label of the session's project, as it was when the policy was pinned; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub project: String,
}

impl TeamTerms {
    /// Returns how something stands that lives until a moment of this boot's clock.
    pub fn standing(&self, until: Moment, now: Moment) -> Standing {
        let over_ms = now.mono_ms.saturating_sub(until.mono_ms);
        // After a restart nobody knows how much time has passed.
        let is_of_boot = until.boot == now.boot && until != Moment::default();
        match self.on_stale {
            _ if is_of_boot && now.mono_ms < until.mono_ms => Standing::Alive,
            OnStale::Allow => Standing::Unbound,
            OnStale::Warn if is_of_boot && over_ms < self.max_staleness_ms => Standing::Outlived,
            OnStale::Warn | OnStale::Deny => Standing::Closed,
        }
    }

    /// Returns how something stands that would stand so, where it is used up and the store does not answer (`is_lacking`).
    pub fn without(&self, is_lacking: bool, standing: Standing) -> Standing {
        let goes_on = is_lacking && standing == Standing::Alive && self.on_stale == OnStale::Allow;
        if goes_on { Standing::Unbound } else { standing }
    }

    /// Returns for how long something is used beyond its life, in milliseconds; `None` for as long as the store is silent.
    pub fn stale_ms(&self) -> Option<u64> {
        match self.on_stale {
            OnStale::Allow => None,
            OnStale::Warn => Some(self.max_staleness_ms),
            OnStale::Deny => Some(0),
        }
    }
}

/// How a share stands at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its leases live.
    Alive,
    /// Its leases are over, and what is left of them is spent for a while.
    Outlived,
    /// The store is silent, and the cap is not kept.
    Unbound,
    /// The store is silent, and nothing may be spent.
    Closed,
    /// The cap of the session's project is used up.
    ProjectSpent,
}

impl Standing {
    /// Whether nothing may be spent.
    pub fn is_closed(self) -> bool {
        matches!(self, Standing::Closed | Standing::ProjectSpent)
    }
}
