//! Units of time, in milliseconds.

/// A second.
pub const SECOND_MS: i64 = 1_000;
/// A minute.
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
/// An hour.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// A day of 24 hours. `calendar.rs` has the days of a time zone.
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// Seven such days.
pub const WEEK_MS: i64 = 7 * DAY_MS;
/// A year of 365 such days.
pub const YEAR_MS: i64 = 365 * DAY_MS;
