//! One lease of a machine: an amount that it may spend without asking, and what it has spent of it.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::team::messages::{Charge, Request};

/// The number of what was spent without a lease. The store charges it and had reserved nothing for it.
pub const UNLEASED: u64 = 0;

/// How far a lease has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Asked for. The store may have reserved it without the machine having heard of it.
    Asked,
    /// Reserved, and not to be spent yet.
    Reserved,
    /// May be spent as long as it lives.
    Usable,
    /// Nothing more is spent from it.
    Closing,
    /// The store knows all of it, and has given the rest back.
    Closed,
}

/// A part of a settlement. Once made it never changes, so that it can be sent again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Batch {
    /// Its number within its lease, from 1.
    pub sequence: u64,
    /// What was spent.
    pub charges: Vec<Charge>,
    /// Whether it gives the lease back.
    pub closes: bool,
}

/// A lease as its machine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// Its number, which the machine has chosen.
    pub number: u64,
    /// How far it has come.
    pub stage: Stage,
    /// How much is asked for, and then how much is reserved.
    pub amount: Amount,
    /// How much is spent of it, settled or not.
    pub spent: Amount,
    /// Since when the machine may spend from it: when it sent the request that was answered last.
    pub since: Moment,
    /// For how long, in milliseconds.
    pub lives_ms: u64,
    /// What was spent and is in no batch yet.
    pub open: Vec<Charge>,
    /// Every batch, in order.
    pub batches: Vec<Batch>,
    /// The last batch that the store has confirmed.
    pub confirmed: u64,
}

impl Lease {
    /// Makes a lease that is to be asked for.
    pub fn new(number: u64, want: Amount) -> Lease {
        Lease {
            number,
            stage: Stage::Asked,
            amount: want,
            spent: Amount::ZERO,
            since: Moment::default(),
            lives_ms: 0,
            open: Vec::new(),
            batches: Vec::new(),
            confirmed: 0,
        }
    }

    /// Whether the machine may spend from it now. After a restart of the machine it may not, until the store has said so again.
    pub fn is_usable(&self, now: Moment) -> bool {
        let is_young = now.mono_ms.saturating_sub(self.since.mono_ms) < self.lives_ms;
        self.stage == Stage::Usable && self.since.boot == now.boot && is_young
    }

    /// Returns what is left of it.
    pub fn left(&self) -> Amount {
        self.amount.minus(self.spent)
    }

    /// Whether half of its life is over.
    pub fn is_due(&self, now: Moment) -> bool {
        self.stage == Stage::Usable
            && (!self.is_usable(now) || now.mono_ms.saturating_sub(self.since.mono_ms) >= self.lives_ms / 2)
    }

    /// Notes a response, which has cost `more` since it was last charged.
    pub fn charge(&mut self, charge: &Charge, more: Amount) {
        self.spent += more;
        match self.open.iter_mut().find(|open| open.message == charge.message) {
            Some(open) => open.cost = charge.cost,
            None => self.open.push(charge.clone()),
        }
    }

    /// Gives nothing more out, so that the next batch closes it.
    pub fn close(&mut self) {
        if matches!(self.stage, Stage::Reserved | Stage::Usable) {
            self.stage = Stage::Closing;
        }
    }

    /// Makes a batch of what is in none yet, of at most `most` charges. A closing lease ends with a batch that says so.
    pub fn make_batch(&mut self, most: usize) {
        let closes = self.stage == Stage::Closing && self.open.len() <= most;
        let is_closed = self.batches.last().is_some_and(|batch| batch.closes);
        if self.open.is_empty() && (!closes || is_closed) {
            return;
        }
        let charges = self.open.drain(..self.open.len().min(most)).collect();
        self.batches.push(Batch { sequence: self.batches.len() as u64 + 1, charges, closes });
    }

    /// Returns what the machine has to send for it, if anything.
    pub fn request(&self, now: Moment) -> Option<Request> {
        let unconfirmed = self.batches.iter().find(|batch| batch.sequence > self.confirmed);
        if let Some(Batch { sequence, charges, closes }) = unconfirmed.cloned() {
            return Some(Request::Settle { number: self.number, sequence, charges, closes });
        }
        match self.stage {
            Stage::Asked => Some(Request::Lease { number: self.number, want: self.amount }),
            Stage::Reserved => Some(Request::Renew { number: self.number }),
            Stage::Usable if self.is_due(now) => Some(Request::Renew { number: self.number }),
            Stage::Usable | Stage::Closing | Stage::Closed => None,
        }
    }
}
