//! The store's side of the protocol as plain data: what the functions in the database have to do.

use std::collections::BTreeMap;

use fusebox::domain::spend::amount::Amount;
use fusebox::team::lease::UNLEASED;
use fusebox::team::messages::{Answer, Charge, Request};

/// A rule of the protocol that can be left out, to see that the check notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A lease may be spent only once no failover can forget it.
    ConfirmBeforeUse,
    /// What an expired lease had reserved stays reserved.
    ExpiredStaysReserved,
    /// A batch and a message are charged once.
    ChargeOnce,
    /// A request for a lease that is known already reserves nothing.
    LeaseOnce,
    /// A new epoch grants nothing until the leases of the one before have run out.
    EpochWaits,
    /// A person can write off only what has expired.
    WriteOffExpired,
}

/// How far a lease has come, for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Open,
    Closed,
    WrittenOff,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    pub amount: u64,
    pub spent: u64,
    pub sequence: u64,
    pub state: State,
    pub expires: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Server {
    pub epoch: u64,
    /// Before this moment the epoch grants nothing.
    pub grants_from: u64,
    pub cap: u64,
    pub leases: BTreeMap<(usize, u64), Row>,
    /// The last number that each machine has asked with.
    pub numbers: BTreeMap<usize, u64>,
    /// What each message has cost.
    pub charged: BTreeMap<String, u64>,
    pub written_off: u64,
}

/// How long a lease lives.
pub const LIVES: u64 = 1;

impl Server {
    /// What the caps have to cover: what was spent, and what machines may still spend.
    pub fn committed(&self, now: u64, without: Option<Rule>) -> u64 {
        let is_free = |row: &Row| without == Some(Rule::ExpiredStaysReserved) && now >= row.expires;
        let counts = |row: &Row| match row.state {
            State::Open if !is_free(row) => row.amount.max(row.spent),
            _ => row.spent,
        };
        self.leases.values().map(counts).sum()
    }

    /// Answers a request. `is_durable` says whether a replica has a lease of the machine's.
    pub fn answer(
        &mut self,
        machine: usize,
        request: &Request,
        now: u64,
        is_durable: impl Fn(&(usize, u64)) -> bool,
        without: Option<Rule>,
    ) -> Answer {
        match request {
            Request::Lease { number, want } => self.lease((machine, *number), want.0, now, without),
            Request::Renew { number } => {
                let id = (machine, *number);
                let Some(row) = self.leases.get_mut(&id).filter(|row| row.state == State::Open) else {
                    return Answer::Over;
                };
                if without != Some(Rule::ConfirmBeforeUse) && !is_durable(&id) {
                    return Answer::Pending;
                }
                row.expires = row.expires.max(now + LIVES);
                Answer::Usable { lives_ms: LIVES, amount: Some(Amount(row.amount)) }
            }
            Request::Settle { number, sequence, charges, closes } => {
                self.settle((machine, *number), *sequence, charges, *closes, without)
            }
        }
    }

    fn lease(&mut self, id: (usize, u64), want: u64, now: u64, without: Option<Rule>) -> Answer {
        let known = self.leases.get(&id).filter(|_| without != Some(Rule::LeaseOnce));
        if let Some(row) = known {
            let amount = Amount(row.amount);
            return if row.state == State::Open { Answer::Reserved { amount } } else { Answer::Over };
        }
        let last = self.numbers.entry(id.0).or_default();
        if id.1 <= *last && without != Some(Rule::LeaseOnce) {
            return Answer::Over;
        }
        *last = id.1;
        let rest = self.cap.saturating_sub(self.committed(now, without));
        // Slices shrink: at most half of what is left, and the last unit whole.
        let amount = want.min(rest.div_ceil(2));
        if amount == 0 || (now < self.grants_from && without != Some(Rule::EpochWaits)) {
            return Answer::Refused;
        }
        let number = self.leases.len() as u64;
        let id = if self.leases.contains_key(&id) { (id.0, 100 + number) } else { id };
        let row = Row { amount, spent: 0, sequence: 0, state: State::Open, expires: now + LIVES };
        self.leases.insert(id, row);
        Answer::Reserved { amount: Amount(amount) }
    }

    fn settle(
        &mut self,
        id: (usize, u64),
        sequence: u64,
        charges: &[Charge],
        closes: bool,
        without: Option<Rule>,
    ) -> Answer {
        // What the server has forgotten, and what was spent without a lease, has nothing reserved.
        let state = if id.1 == UNLEASED { State::Open } else { State::Closed };
        let forgotten = Row { amount: 0, spent: 0, sequence: 0, state, expires: 0 };
        let row = self.leases.entry(id).or_insert(forgotten);
        let twice = without == Some(Rule::ChargeOnce);
        // A batch after a gap waits until those before it have come.
        if sequence == row.sequence + 1 || twice {
            for Charge { message, cost, .. } in charges {
                let before = self.charged.insert(message.clone(), cost.0).unwrap_or(0);
                row.spent += if twice { cost.0 } else { cost.0.saturating_sub(before) };
                self.charged.entry(message.clone()).and_modify(|cost| *cost = (*cost).max(before));
            }
            row.sequence = sequence;
            if closes && row.state == State::Open {
                row.state = State::Closed;
            }
        }
        Answer::Settled { sequence: row.sequence, closed: row.state != State::Open }
    }

    /// A person gives up what a lost machine may have spent.
    pub fn write_off(&mut self, id: (usize, u64), now: u64, without: Option<Rule>) -> bool {
        let may =
            |row: &&mut Row| row.state == State::Open && (now >= row.expires || without == Some(Rule::WriteOffExpired));
        let Some(row) = self.leases.get_mut(&id).filter(may) else { return false };
        row.state = State::WrittenOff;
        self.written_off += row.amount.saturating_sub(row.spent);
        true
    }

    /// A replica takes over. It may know less than the server before it.
    pub fn take_over(&mut self, epoch: u64, now: u64) {
        self.epoch = epoch;
        self.grants_from = now + LIVES;
    }
}
