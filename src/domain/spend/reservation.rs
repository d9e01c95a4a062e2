//! Estimates that are held for requests in flight.

use serde::{Deserialize, Serialize};

use crate::domain::bounds::RESERVATIONS;
use crate::domain::moment::Moment;
use crate::domain::process::Process;
use crate::domain::spend::meters::Spend;
use crate::domain::stored::serde_default::is_default;
use crate::domain::time_units::MINUTE_MS;

/// A reservation whose response never came stops counting after this.
pub const RESERVE_LIVES_MS: u64 = 10 * MINUTE_MS.cast_unsigned();
/// An estimate held for a request in flight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reservation {
    /// The run that makes it, or the call that will start the run.
    pub holder: String,
    /// How much.
    pub spend: Spend,
    /// Since when; it expires.
    pub at: Moment,
    /// The model it goes to, where that is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: String,
    /// The session that makes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: String,
    /// The client that makes it, where its process is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: Option<Process>,
    /// What a first request may spend of which nothing is known but its prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first: Spend,
}

/// Holds an estimate in place of the holder's last one. Those of too many holders are one sum, of no holder's.
pub fn hold(reservations: &mut Vec<Reservation>, reservation: Reservation, lives_ms: u64) {
    reservations.retain(|other| other.holder != reservation.holder && reservation.at.wall_since(other.at) < lives_ms);
    if reservations.len() < RESERVATIONS {
        reservations.push(reservation);
        return;
    }
    let at = reservations.iter().position(|other| other.holder.is_empty());
    let others = at.map(|at| reservations.remove(at)).unwrap_or_default();
    let (spend, first) = (others.spend + reservation.spend, others.first + reservation.first);
    reservations.push(Reservation { holder: String::new(), spend, first, ..reservation });
}

impl Reservation {
    /// Takes out one of its requests, which has been charged; returns whether another is still in flight.
    pub fn settle(&mut self) -> bool {
        let left = self.spend.requests.saturating_sub(1);
        self.spend = self.spend.mean() * left;
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_charged_late_leaves_the_request_in_flight_reserved() {
        let next = Spend { requests: 1, tokens: 100, ..Spend::default() };
        let mut reservation = Reservation { holder: "a1".to_owned(), spend: next * 2, ..Reservation::default() };
        assert!(reservation.settle(), "the late one is charged, the next one is in flight");
        assert_eq!(reservation.spend, next);
        assert!(!reservation.settle(), "that one is charged, too");
    }
}
