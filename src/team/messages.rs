//! What a machine asks of the team's store, and what the store answers.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;

/// What one response has cost so far. A response's cost only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Charge {
    /// The response's `message.id`.
    pub message: String,
    /// All that it has cost.
    pub cost: Amount,
    /// The model that gave it.
    pub model: String,
    /// A name for the project that all machines have for it; empty where there is none.
    pub project: String,
}

/// A request to the store. Each may arrive late, twice or never.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Reserves a slice of what is left. The number is the machine's, so that a repeated request reserves nothing twice.
    Lease {
        /// The number of the lease.
        number: u64,
        /// The most that the machine asks for.
        want: Amount,
    },
    /// Asks whether a lease may be spent, and for how long from now.
    Renew {
        /// The number of the lease.
        number: u64,
    },
    /// Tells what was spent.
    Settle {
        /// The number of the lease; [`crate::team::lease::UNLEASED`] for what was spent without one.
        number: u64,
        /// Which batch of that lease this is, from 1.
        sequence: u64,
        /// What was spent.
        charges: Vec<Charge>,
        /// Whether the lease is given back: nothing more is spent from it.
        closes: bool,
    },
}

impl Request {
    /// Returns the number of the lease that the request is about.
    pub fn number(&self) -> u64 {
        match self {
            Request::Lease { number, .. } | Request::Renew { number } | Request::Settle { number, .. } => *number,
        }
    }
}

/// The store's answer to one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// The server's epoch: it grows with each failover.
    pub epoch: u64,
    /// The number of the lease that the request was about.
    pub number: u64,
    /// When the machine had sent the request, by the machine's own clock.
    pub sent: Moment,
    /// What the store says.
    pub answer: Answer,
}

/// What the store says to a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To `Lease`: the amount is reserved. It may be spent only once `Renew` has said so.
    Reserved {
        /// How much.
        amount: Amount,
    },
    /// To `Lease`: nothing is left, or a new epoch grants nothing yet.
    Refused,
    /// To `Renew`: the lease may be spent, for this long from when the request was sent.
    Usable {
        /// For how many milliseconds.
        lives_ms: u64,
        /// How much is reserved, which a failover may have changed; `None` where the store is of an earlier version.
        amount: Option<Amount>,
    },
    /// To `Renew`: a failover could still forget that the amount is reserved. Ask again later.
    Pending,
    /// To `Lease` and `Renew`: the lease is closed, written off, unknown, or its period is over.
    Over,
    /// To `Settle`: the batches that the store knows of this lease.
    Settled {
        /// The last batch that is kept.
        sequence: u64,
        /// Whether the lease is closed.
        closed: bool,
    },
    /// To any: what it waits for is locked in somebody's transaction, and nothing was done. Ask again later.
    Busy {
        /// The logins that keep it locked; empty where the store cannot tell.
        held_by: String,
    },
}
