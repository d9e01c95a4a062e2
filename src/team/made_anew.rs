//! A machine that is made anew of what the team's store knows of it: its own file is lost, or another program has changed it.

use crate::domain::moment::Moment;
use crate::domain::spend::amount::Amount;
use crate::team::lease::{Batch, Lease, Stage, UNLEASED};
use crate::team::machine::Machine;

/// A lease as the store knows it: told of up to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownLease {
    /// Its number.
    pub number: u64,
    /// The last batch that the store has taken.
    pub sequence: u64,
    /// Whether it may be closed yet.
    pub is_open: bool,
}

impl Machine {
    /// Makes it anew of what the store knows, where what the machine knew is lost or not to be believed: all leases are given back, and
    /// all responses are told once more as spent without a lease. The store charges each once.
    pub fn of_store(last_number: u64, leases: &[KnownLease]) -> Machine {
        let lease = |&KnownLease { number, sequence, .. }: &KnownLease| {
            let told = |sequence| Batch { sequence, charges: Vec::new(), closes: false };
            let stage = if number == UNLEASED { Stage::Closed } else { Stage::Closing };
            let batches = (1..=sequence).map(told).collect();
            Lease { stage, batches, confirmed: sequence, ..Lease::new(number, Amount::ZERO) }
        };
        let leases = leases.iter().filter(|lease| lease.is_open).map(lease).collect();
        let mut machine = Machine { last_number, leases, ..Machine::default() };
        machine.settle();
        machine
    }

    /// Whether what the machine knows and what the store knows of it go together: neither has forgotten what the other was told.
    pub fn agrees_with(&self, last_number: u64, leases: &[KnownLease]) -> bool {
        let of_store = |number| leases.iter().find(|lease| lease.number == number).map_or(0, |lease| lease.sequence);
        let is_told = |lease: &Lease| (lease.confirmed..=lease.batches.len() as u64).contains(&of_store(lease.number));
        let has_unleased = self.leases.iter().any(|lease| lease.number == UNLEASED);
        let last = leases.iter().map(|lease| lease.number).fold(last_number, u64::max);
        self.leases.iter().all(is_told) && last <= self.last_number && (has_unleased || of_store(UNLEASED) == 0)
    }

    /// Charges once more all that another has charged, as far as that keeps it.
    pub fn charge_all_of(&mut self, other: &Machine, now: Moment) {
        let batches = other.leases.iter().flat_map(|lease| lease.batches.iter().map(|batch| &batch.charges));
        let charges = batches.chain(other.leases.iter().map(|lease| &lease.open));
        charges.flatten().for_each(|charge| self.charge(charge, now));
    }

    /// Whether it has spent what the store has not confirmed, as far as it was charged.
    pub fn has_untold(&self) -> bool {
        let is_untold =
            |lease: &Lease| lease.batches.iter().any(|it| it.sequence > lease.confirmed && !it.charges.is_empty());
        self.leases.iter().any(|lease| !lease.open.is_empty() || is_untold(lease))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::messages::{Charge, Request};

    #[test]
    fn a_machine_that_is_made_anew_tells_everything_as_unleased_then_gives_its_leases_back_and_asks_for_new_ones() {
        let now = Moment { mono_ms: 1, ..Moment::default() };
        let known = [(UNLEASED, 2), (4, 3)].map(|(number, sequence)| KnownLease { number, sequence, is_open: true });
        let mut machine = Machine::of_store(6, &known);
        assert_eq!(machine.held(now), (Amount::ZERO, None));
        machine.charge(&Charge { message: "m".to_owned(), cost: Amount(5), ..Charge::default() }, now);
        machine.settle();
        let sent: Vec<(u64, u64, usize, bool)> = machine
            .requests(now)
            .into_iter()
            .map(|request| match request {
                Request::Settle { number, sequence, charges, closes } => (number, sequence, charges.len(), closes),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(sent, [(UNLEASED, 3, 1, false), (4, 4, 0, true)]);
        machine.ask(Amount(10));
        assert_eq!(machine.leases.last().map(|lease| lease.number), Some(7));
        assert_eq!(machine.balance(now), Amount::ZERO);
    }
}
