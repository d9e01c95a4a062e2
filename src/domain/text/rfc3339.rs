//! Moments as RFC 3339 text. Only this file uses chrono.

use chrono::{DateTime, SecondsFormat};

/// Reads a moment, in milliseconds since 1970.
pub fn parse(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp_millis())
}

/// Writes a moment in milliseconds since 1970 as UTC, to the millisecond.
pub fn format(at_ms: i64) -> String {
    DateTime::from_timestamp_millis(at_ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}
