//! All that one machine knows of its leases. It is saved before each request is sent and after each reply is applied.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::domain::stable_sort::sort_by_key;
use crate::team::lease::{Lease, Stage, UNLEASED};
use crate::team::messages::{Answer, Charge, Reply, Request};
use crate::team::purpose::Purpose;
use crate::team::share::Share;

/// The most charges in one batch.
pub const BATCH: usize = 500;

/// How many closed leases stay although nothing was spent of them.
const KEEP_CLOSED: u64 = 200;

/// The machine's side of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The server's epoch in the last reply.
    pub epoch: u64,
    /// The number of the last lease.
    pub last_number: u64,
    /// The leases, oldest first. Closed ones stay, because a failover may have forgotten what was settled.
    pub leases: Vec<Lease>,
    /// What each response has cost, as far as it was charged to a lease.
    pub charged: BTreeMap<String, Amount>,
    /// The shares of what the team limits besides money.
    pub shares: Vec<Share>,
    /// What it has the team told for.
    #[serde(skip)]
    pub purpose: Purpose,
}

impl Machine {
    /// Returns what the machine may spend now without asking.
    pub fn balance(&self, now: Moment) -> Amount {
        self.leases.iter().filter(|lease| lease.is_usable(now)).map(Lease::left).sum()
    }

    /// Returns the same with what is reserved and may not be spent yet.
    pub fn held_soon(&self, now: Moment) -> Amount {
        let reserved = self.leases.iter().filter(|lease| lease.stage == Stage::Reserved);
        self.balance(now) + reserved.map(|lease| lease.amount).sum()
    }

    /// Returns what is left of the leases that were confirmed since this boot, also of those whose life is over, and until when
    /// all of them live. The store counts each whole until it is settled.
    pub fn held(&self, now: Moment) -> (Amount, Option<Moment>) {
        let is_held = |lease: &&Lease| lease.stage == Stage::Usable && lease.since.boot == now.boot;
        let held = || self.leases.iter().filter(is_held).filter(|lease| lease.left() > Amount::ZERO);
        let ends =
            held().map(|lease| Moment { mono_ms: lease.since.mono_ms.saturating_add(lease.lives_ms), ..lease.since });
        (held().map(Lease::left).sum(), ends.min_by_key(|end| end.mono_ms))
    }

    /// Returns what all responses have cost that it knows, as far as it was charged.
    pub fn spent(&self) -> Amount {
        self.charged.values().copied().sum()
    }

    /// Whether the store may count something as leased or reserved by this machine.
    pub fn holds(&self) -> bool {
        let is_open = |lease: &Lease| lease.number != UNLEASED && lease.stage != Stage::Closed;
        self.leases.iter().any(is_open) || self.shares.iter().any(|share| share.amount.max(share.wants) > 0)
    }

    /// Whether a lease is over of which it is not written down yet that nothing more is spent.
    pub fn has_ended(&self) -> bool {
        let is_told = |lease: &Lease| lease.batches.last().is_some_and(|batch| batch.closes);
        self.leases.iter().any(|lease| lease.stage == Stage::Closing && !is_told(lease))
    }

    /// Whether a lease is reserved and may not be spent yet.
    pub fn is_waiting(&self) -> bool {
        self.leases.iter().any(|lease| lease.stage == Stage::Reserved)
    }

    /// Whether this lease is reserved and may not be spent yet.
    pub fn is_reserved(&self, number: u64) -> bool {
        self.leases.iter().any(|lease| lease.number == number && lease.stage == Stage::Reserved)
    }

    /// Charges a response to the oldest leases with something left: those that live, then those whose life is over, which the store
    /// counts whole all the same. What is more than one has left goes to the next: there it is a response that has grown. A cost that
    /// shrinks is ignored.
    pub fn charge(&mut self, charge: &Charge, now: Moment) {
        let mut told = self.charged.get(&charge.message).copied().unwrap_or_default();
        if charge.cost <= told {
            return;
        }
        self.charged.insert(charge.message.clone(), charge.cost);
        while told < charge.cost {
            let more = charge.cost.minus(told);
            let (at, fits) = match self.with_rest(now) {
                Some(at) => (at, self.leases[at].left().min(more)),
                // An overshoot stays with the last lease: nothing else was reserved for it.
                None => (self.last_open().unwrap_or_else(|| self.unleased()), more),
            };
            told += fits;
            self.leases[at].charge(&Charge { cost: told, ..charge.clone() }, fits);
        }
    }

    /// Returns the oldest lease with something left, one that lives before one whose life is over.
    fn with_rest(&self, now: Moment) -> Option<usize> {
        let has_rest = |lease: &Lease| lease.stage == Stage::Usable && lease.left() > Amount::ZERO;
        let living = self.leases.iter().position(|lease| has_rest(lease) && lease.is_usable(now));
        living.or_else(|| self.leases.iter().position(has_rest))
    }

    /// Returns the last lease that was given, and is not closed.
    fn last_open(&self) -> Option<usize> {
        self.leases.iter().rposition(|lease| lease.stage == Stage::Usable)
    }

    /// Returns where the charges without a lease are.
    fn unleased(&mut self) -> usize {
        if let Some(at) = self.leases.iter().position(|lease| lease.number == UNLEASED) {
            return at;
        }
        self.leases.insert(0, Lease { stage: Stage::Closed, ..Lease::new(UNLEASED, Amount::ZERO) });
        0
    }

    /// Makes a lease to be asked for, unless one is under way.
    pub fn ask(&mut self, want: Amount) {
        if !self.is_waiting() {
            self.ask_besides(want);
        }
    }

    /// Makes a lease to be asked for, also where one is reserved that may not be spent yet.
    pub fn ask_besides(&mut self, want: Amount) {
        if want > Amount::ZERO && !self.leases.iter().any(|lease| lease.stage == Stage::Asked) {
            self.last_number += 1;
            self.leases.push(Lease::new(self.last_number, want));
        }
    }

    /// Makes batches of what was spent, and closes the leases that are used up.
    pub fn settle(&mut self) {
        for lease in &mut self.leases {
            if lease.stage == Stage::Usable && lease.left() == Amount::ZERO {
                lease.close();
            }
            while !lease.open.is_empty() || lease.stage == Stage::Closing {
                let batches = lease.batches.len();
                lease.make_batch(BATCH);
                if lease.batches.len() == batches {
                    break;
                }
            }
        }
    }

    /// Gives back all that is left. The machine spends nothing more until it has asked anew.
    pub fn give_back(&mut self) {
        self.leases.iter_mut().for_each(Lease::close);
        self.settle();
    }

    /// Forgets what can no longer be asked for: responses that are in no transcript's reach any more, and what was confirmed
    /// beyond the last `keep` charges. A failover that forgets more than those is not told them again.
    pub fn forget(&mut self, in_reach: &BTreeSet<String>, keep: usize) {
        self.charged.retain(|message, _| in_reach.contains(message));
        let mut kept = 0;
        for lease in self.leases.iter_mut().rev() {
            let confirmed = lease.confirmed;
            for batch in lease.batches.iter_mut().rev() {
                kept += batch.charges.len();
                if kept > keep && batch.sequence <= confirmed {
                    batch.charges = Vec::new();
                }
            }
        }
        let last = self.last_number;
        let says_something = |lease: &Lease| lease.batches.iter().any(|batch| !batch.charges.is_empty());
        self.leases.retain(|lease| {
            let is_old = lease.stage == Stage::Closed && lease.number != UNLEASED && lease.number + KEEP_CLOSED < last;
            !is_old || says_something(lease)
        });
    }

    /// Returns what is to be sent now: at most one request for each lease, what was spent first.
    pub fn requests(&self, now: Moment) -> Vec<Request> {
        let mut requests: Vec<Request> = self.leases.iter().filter_map(|lease| lease.request(now)).collect();
        sort_by_key(&mut requests, |request| !matches!(request, Request::Settle { .. }));
        requests
    }

    /// Takes a reply in, which may be late, doubled, or of an earlier epoch.
    pub fn apply(&mut self, reply: &Reply) {
        if reply.epoch > self.epoch {
            self.begin_epoch(reply.epoch);
        }
        let is_stale = reply.epoch < self.epoch;
        let Some(at) = self.leases.iter().position(|lease| lease.number == reply.number) else { return };
        let lease = &mut self.leases[at];
        match (&reply.answer, lease.stage) {
            (Answer::Reserved { amount }, Stage::Asked) if !is_stale => {
                lease.amount = *amount;
                lease.stage = Stage::Reserved;
            }
            (Answer::Refused, Stage::Asked) => {
                self.leases.remove(at);
            }
            (Answer::Usable { lives_ms, amount }, Stage::Reserved | Stage::Usable) => {
                lease.stage = Stage::Usable;
                lease.amount = lease.amount.min(amount.unwrap_or(lease.amount));
                if lease.since.boot != reply.sent.boot || reply.sent.mono_ms >= lease.since.mono_ms {
                    (lease.since, lease.lives_ms) = (reply.sent, *lives_ms);
                }
            }
            (Answer::Over, Stage::Asked | Stage::Reserved) => {
                self.leases.remove(at);
            }
            (Answer::Over, Stage::Usable) => lease.close(),
            (Answer::Settled { sequence, closed }, _) if !is_stale => {
                lease.confirmed = lease.confirmed.max(*sequence);
                if *closed && lease.stage == Stage::Closing {
                    lease.stage = Stage::Closed;
                }
            }
            _ => {}
        }
    }

    /// Sends everything once more: the new server may have forgotten what the old one had confirmed.
    fn begin_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
        for lease in &mut self.leases {
            lease.confirmed = 0;
        }
    }
}

#[cfg(test)]
mod tests;
