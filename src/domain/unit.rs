//! What a cap is measured in: its base unit, and the number of it in configuration.

use crate::domain::spend::amount::{Amount, PICO};
use crate::domain::text::duration;

/// What a cap is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of things.
    Count,
    /// Milliseconds.
    Millis,
    /// US dollars in configuration, pico-dollars inside.
    Usd,
    /// Tokens.
    Tokens,
    /// Whole per cent.
    Percent,
    /// On or off: `true` in configuration is a cap of 1.
    Switch,
}

impl Unit {
    /// Writes a value in the base unit as people read it.
    pub fn show(self, value: u64) -> String {
        match self {
            Unit::Count | Unit::Switch => value.to_string(),
            Unit::Tokens => format!("{value} tokens"),
            Unit::Percent => format!("{value} %"),
            Unit::Usd => Amount(value).to_string(),
            Unit::Millis => duration::measured(value),
        }
    }

    /// Writes a cap: below a dollar with four digits where two would hide some of it.
    pub fn show_cap(self, value: u64) -> String {
        let is_hidden = value < PICO && !value.is_multiple_of(PICO / 100);
        match self {
            Unit::Usd if is_hidden => format!("{:.4} USD", Amount(value).usd()),
            _ => self.show(value),
        }
    }

    /// Converts a number from configuration into the base unit; nothing where it is no whole number of it.
    pub fn base(self, number: f64) -> Option<u64> {
        match self {
            Unit::Usd if number >= 0.0 && number.is_finite() => Some((number * PICO as f64).round() as u64),
            Unit::Usd => None,
            _ if number >= 0.0 && number.fract() == 0.0 && number <= 9e15 => Some(number as u64),
            _ => None,
        }
    }

    /// Converts a value in the base unit back into configuration's number.
    pub fn configured(self, value: u64) -> f64 {
        match self {
            Unit::Usd => Amount(value).usd(),
            _ => value as f64,
        }
    }
}
