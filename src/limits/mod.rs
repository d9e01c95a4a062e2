//! The roster of limits. A new kind of limit is one file here and one row in [`ROSTER`].

mod max_cost_usd;
mod max_duration_ms;
mod max_requests;
mod max_tokens;
mod max_turns;
mod max_wall_ms;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::engine::amount::{Amount, PICO};
use crate::engine::meters::{Meters, Spend};
use crate::engine::policy::Scope;

/// Every limit, in the order in which findings are reported.
pub const ROSTER: [&Limit; 6] = [
    &max_turns::LIMIT,
    &max_requests::LIMIT,
    &max_duration_ms::LIMIT,
    &max_wall_ms::LIMIT,
    &max_cost_usd::LIMIT,
    &max_tokens::LIMIT,
];

/// Finds a limit by its key.
pub fn find(key: &str) -> Option<&'static Limit> {
    ROSTER.into_iter().find(|limit| limit.key == key)
}

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
}

/// Another name for a key, in another unit where `scale` is not 1.
#[derive(Debug)]
pub struct Alias {
    /// The other key.
    pub key: &'static str,
    /// What a value under it is multiplied by.
    pub scale: u64,
}

/// When a limit is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A tool call asks to run.
    Call,
    /// A tool call asks to start or continue another agent.
    Spawn,
    /// A batch ended; the next model request follows.
    Request,
    /// A prompt is about to start the next model request.
    Prompt,
    /// A tool call has just ended.
    Result,
}

/// How a limit reads what is used, and what the next step would add.
#[derive(Debug)]
pub enum Meter {
    /// Spent by model requests: decided before each, so that the request and the report after it fit inside the cap.
    Spend(fn(&Spend) -> u64),
    /// Counted in steps: what is used, and what the step at a stage adds (nothing where it is not decided there).
    Step {
        /// What is used so far.
        used: fn(&Meters) -> u64,
        /// What the step at this stage would add.
        adds: fn(Stage) -> Option<u64>,
    },
}

/// One kind of limit: facts, and how to read its meter.
#[derive(Debug)]
pub struct Limit {
    /// The key in configuration, reports and messages.
    pub key: &'static str,
    /// Other documents' names for it.
    pub aliases: &'static [Alias],
    /// What people call the thing counted.
    pub label: &'static str,
    /// The unit of the cap.
    pub unit: Unit,
    /// The smallest and largest cap, in the base unit.
    pub range: (u64, u64),
    /// The range that binds subagents' runs unless `ceilings` says else, in the base unit.
    pub ceiling: Option<(u64, u64)>,
    /// Where it can be set.
    pub scopes: &'static [Scope],
    /// The machine-readable reason of a stop by it.
    pub stop_reason: &'static str,
    /// The fixed words of the source documents that a refusal carries.
    pub phrase: &'static str,
    /// How it is read.
    pub meter: Meter,
    /// What it is, for the documentation.
    pub doc: &'static str,
    /// One example value as JSON.
    pub example: &'static str,
}

impl Limit {
    /// Writes a value of this limit's base unit as people read it.
    pub fn show(&self, value: u64) -> String {
        match self.unit {
            Unit::Count => value.to_string(),
            Unit::Tokens => format!("{value} tokens"),
            Unit::Usd => Amount(value).to_string(),
            Unit::Millis if value < 60_000 => format!("{:.1} s", value as f64 / 1000.0),
            Unit::Millis => format!("{:.1} min", value as f64 / 60_000.0),
        }
    }

    /// Returns what is used so far.
    pub fn used(&self, meters: &Meters) -> u64 {
        match self.meter {
            Meter::Spend(part) => part(&meters.spent),
            Meter::Step { used, .. } => used(meters),
        }
    }

    /// Whether a report costs of it, so that the report must fit inside the cap.
    pub fn spent_by_requests(&self) -> bool {
        matches!(self.meter, Meter::Spend(_))
    }

    /// Converts a number from configuration into the base unit; nothing where it is no whole number of it.
    pub fn base(&self, number: f64) -> Option<u64> {
        match self.unit {
            Unit::Usd if number >= 0.0 && number.is_finite() => Some((number * PICO as f64).round() as u64),
            Unit::Usd => None,
            _ if number >= 0.0 && number.fract() == 0.0 && number <= 9e15 => Some(number as u64),
            _ => None,
        }
    }

    /// Converts a value in the base unit back into configuration's number.
    pub fn configured(&self, value: u64) -> f64 {
        match self.unit {
            Unit::Usd => Amount(value).usd(),
            _ => value as f64,
        }
    }
}

impl PartialEq for Limit {
    fn eq(&self, other: &Limit) -> bool {
        self.key == other.key
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

impl<'de> Deserialize<'de> for &'static Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<&'static Limit, D::Error> {
        let key = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        find(&key).ok_or_else(|| de::Error::custom(format_args!("no limit is called `{key}`")))
    }
}
