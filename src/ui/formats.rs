//! Figures: dollars as exact decimal strings and moments as RFC 3339 for programs, counts for sentences.

use serde::{Serialize, Serializer};

use crate::domain::limit::Limit;
use crate::domain::spend::amount::Amount;
use crate::domain::text::rfc3339;
use crate::domain::unit::Unit;

/// Returns a number of things as a sentence has it: `1 request`, `2 requests`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", by_number(number, "", "s"))
}

/// Returns what goes with a number of things: `was` with 1, `were` with any other.
pub fn by_number<T>(number: u64, one: T, many: T) -> T {
    if number == 1 { one } else { many }
}

/// US dollars, written as a decimal string with 12 digits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(pub Amount);

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.exact())
    }
}

/// A moment in milliseconds since 1970, written as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the text in UTC.
    pub fn text(self) -> String {
        rfc3339::format(self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// A value of a limit, in the limit's base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The limit whose unit it is in.
    pub limit: &'static Limit,
    /// The value.
    pub value: u64,
}

impl Quantity {
    /// Returns the value as people read it.
    pub fn show(self) -> String {
        self.limit.show(self.value)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.limit.unit {
            Unit::Usd => Usd(Amount(self.value)).serialize(serializer),
            Unit::Count | Unit::Millis | Unit::Tokens | Unit::Percent | Unit::Switch => {
                serializer.serialize_u64(self.value)
            }
        }
    }
}
