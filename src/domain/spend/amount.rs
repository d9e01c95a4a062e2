//! Money in whole pico-dollars, so that sums are exact whatever their order.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

use serde::{Deserialize, Serialize};

/// Pico-dollars in one US dollar.
pub const PICO: u64 = 1_000_000_000_000;

/// An amount of US dollars in pico-dollars; it saturates instead of wrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub u64);

impl Amount {
    /// No money.
    pub const ZERO: Amount = Amount(0);

    /// Returns the amount for `usd`, rounded to the nearest pico-dollar; negative and NaN are zero.
    pub fn from_usd(usd: f64) -> Amount {
        Amount((usd * PICO as f64).round() as u64)
    }

    /// Returns the amount as a fraction of a dollar, for display and for JSON numbers.
    pub fn usd(self) -> f64 {
        self.0 as f64 / PICO as f64
    }

    /// Returns the exact decimal text with 12 digits after the point.
    pub fn exact(self) -> String {
        format!("{}.{:012}", self.0 / PICO, self.0 % PICO)
    }

    /// Returns it in dollars as people type it, never less than it is: in whole cents.
    pub fn typed(self) -> String {
        let cents = self.0.div_ceil(PICO / 100);
        format!("{}.{:02}", cents / 100, cents % 100)
    }

    /// Subtracts, stopping at zero.
    pub fn minus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Amount {
    /// Writes dollars as people read them: two digits after the point, more only for small amounts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.usd() {
            usd if usd >= 0.1 || self.0 == 0 => write!(f, "{usd:.2} USD"),
            usd => write!(f, "{usd:.4} USD"),
        }
    }
}

impl Add for Amount {
    type Output = Amount;
    fn add(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        *self = *self + other;
    }
}

impl Mul<u64> for Amount {
    type Output = Amount;
    fn mul(self, times: u64) -> Amount {
        Amount(self.0.saturating_mul(times))
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Amount>>(amounts: I) -> Amount {
        amounts.fold(Amount::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_reads_as_dollars() {
        for (usd, shown, exact) in [
            (0.0, "0.00 USD", "0.000000000000"),
            (0.00584, "0.0058 USD", "0.005840000000"),
            (1.0, "1.00 USD", "1.000000000000"),
            (25.126, "25.13 USD", "25.126000000000"),
        ] {
            assert_eq!(Amount::from_usd(usd).to_string(), shown);
            assert_eq!(Amount::from_usd(usd).exact(), exact);
        }
        assert_eq!(Amount::from_usd(-1.0), Amount::ZERO);
        assert_eq!(Amount(u64::MAX) + Amount(1), Amount(u64::MAX));
    }
}
