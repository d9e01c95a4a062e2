//! Days, weeks and months of a time zone, for budgets, reports and pruning alike. Only this file uses jiff.

use std::fmt;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::domain::budget::Period;
use crate::domain::limit::Span;

/// A day of the calendar, without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// Reads a day as `2026-11-20`.
    pub fn parse(text: &str) -> Option<Day> {
        let mut parts = text.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok().map(Day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A time zone.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// Returns Coordinated Universal Time.
    pub fn utc() -> Zone {
        Zone(TimeZone::UTC)
    }

    /// Returns the time zone of this name. Where the name is `None` or unknown, returns the machine's.
    pub fn named(name: Option<&str>) -> Zone {
        let by_rule = |name: &str| TimeZone::posix(name).ok().filter(|_| name.starts_with('<'));
        let known = |name| by_name(name).or_else(|| by_rule(name));
        Zone(name.and_then(known).unwrap_or_else(system))
    }

    /// Returns the day that a moment belongs to. Times are in milliseconds since 1970.
    ///
    /// A day lasts from its first moment to the first moment of the next one. Where the clocks go back over midnight, the next day has
    /// begun and goes on.
    pub fn day(&self, at_ms: i64) -> Day {
        let at = self.at(at_ms);
        let next = at.date().tomorrow().ok().and_then(|day| self.beginning(day));
        Day(next.filter(|next| next.timestamp() <= at.timestamp()).unwrap_or(at).date())
    }

    /// Returns the first moment of a day: midnight, or when the clocks have skipped it.
    pub fn begin_ms(&self, day: Day) -> i64 {
        self.beginning(day.0).map_or(i64::MAX, |at| at.timestamp().as_millisecond())
    }

    /// Returns the day, week or month that a moment is in, with nothing spent.
    pub fn period(&self, span: Span, at_ms: i64) -> Period {
        let Day(today) = self.day(at_ms);
        let first = match span {
            Span::Day => today,
            Span::Week => today.saturating_sub(i32::from(today.weekday().since(Weekday::Monday)).days()),
            Span::Month => today.first_of_month(),
        };
        let next = match span {
            Span::Day => first.saturating_add(1.day()),
            Span::Week => first.saturating_add(1.week()),
            Span::Month => first.saturating_add(1.month()),
        };
        let (from, to) = (self.beginning(first), self.beginning(next));
        let millis = |at: &Option<Zoned>, or| at.as_ref().map_or(or, |at| at.timestamp().as_millisecond());
        let resets = to.as_ref().map(|to| format!("{} {}", minute_of(to), offset_of(to))).unwrap_or_default();
        Period { from_ms: millis(&from, at_ms), to_ms: millis(&to, i64::MAX), resets, ..Period::default() }
    }

    /// Returns a moment as `2026-11-20 10:03`.
    pub fn minute(&self, at_ms: i64) -> String {
        minute_of(&self.at(at_ms))
    }

    /// Returns a moment as messages say when something begins anew: `2026-11-20 10:03 +01:00`.
    pub fn stamp(&self, at_ms: i64) -> String {
        let at = self.at(at_ms);
        format!("{} {}", minute_of(&at), offset_of(&at))
    }

    /// Returns a moment as `2026-11-20 10:03:12`.
    pub fn second(&self, at_ms: i64) -> String {
        let at = self.at(at_ms);
        format!("{}:{:02}", minute_of(&at), at.second())
    }

    fn at(&self, at_ms: i64) -> Zoned {
        Timestamp::from_millisecond(at_ms).unwrap_or_default().to_zoned(self.0.clone())
    }

    fn beginning(&self, day: Date) -> Option<Zoned> {
        day.to_zoned(self.0.clone()).ok()?.start_of_day().ok()
    }
}

/// Writes a moment as `2026-11-20 10:03`. `Zoned::strftime` does the same, with 80 KB for its other letters.
fn minute_of(at: &Zoned) -> String {
    format!("{} {:02}:{:02}", at.date(), at.hour(), at.minute())
}

/// Writes how far a moment's clocks are ahead of UTC: `+01:00`.
fn offset_of(at: &Zoned) -> String {
    let seconds = at.offset().seconds();
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Whether a time zone has this name.
pub fn is_zone(name: &str) -> bool {
    by_name(name).is_some()
}

#[cfg(feature = "zones")]
fn by_name(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

#[cfg(feature = "zones")]
fn system() -> TimeZone {
    TimeZone::system()
}

/// Where zones come from that the program does not bring: the bytes of one by its name, and the name of the machine's.
#[cfg(not(feature = "zones"))]
#[derive(Debug)]
pub struct ZoneSource {
    /// Returns a zone's file.
    pub file: fn(&str) -> Option<Vec<u8>>,
    /// Returns the name of the machine's zone.
    pub name_of_system: fn() -> Option<String>,
}

/// The source that the program has set at its start.
#[cfg(not(feature = "zones"))]
pub static ZONE_SOURCE: std::sync::OnceLock<ZoneSource> = std::sync::OnceLock::new();

#[cfg(not(feature = "zones"))]
fn by_name(name: &str) -> Option<TimeZone> {
    TimeZone::tzif(name, &(ZONE_SOURCE.get()?.file)(name)?).ok()
}

#[cfg(not(feature = "zones"))]
fn system() -> TimeZone {
    let name = ZONE_SOURCE.get().and_then(|source| (source.name_of_system)());
    name.and_then(|name| by_name(&name)).unwrap_or_else(TimeZone::system)
}

/// Returns the name of the zone that this process is in. [`Zone::named`] finds the zone by it.
pub fn name_of_system(at_ms: i64) -> String {
    let system = system();
    let fixed = || {
        let east = system.to_offset(Timestamp::from_millisecond(at_ms).unwrap_or_default()).seconds();
        // POSIX counts to the west.
        let (sign, east) = if east < 0 { ('+', -east) } else { ('-', east) };
        format!("<HERE>{sign}{:02}:{:02}", east / 3600, east / 60 % 60)
    };
    system.iana_name().map_or_else(fixed, str::to_owned)
}

#[cfg(test)]
mod tests;
