//! Since when and until when: `7d`, `24h`, `yesterday`, `2026-11-01`, `all`.

use std::ops::Range;

use crate::calendar::{Day, Zone};
use crate::domain::budget::Period;
use crate::domain::limit::Span;
use crate::domain::text::duration;

/// From when on a report counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds ago.
    Ago(i64),
    /// The beginning of a day in the local time zone.
    Day(Day),
    /// The beginning of the day that is so many before today.
    DaysAgo(i64),
    /// The beginning.
    All,
}

/// Days by their names.
const WORDS: [(&str, i64); 2] = [("today", 0), ("yesterday", 1)];

/// Returns the moment that a period begins at, and the one after the day that it names, in milliseconds since 1970.
pub fn bounds(since: Since, zone: &Zone, now_ms: i64) -> Range<i64> {
    let day = |at_ms: i64| {
        let Period { from_ms, to_ms, .. } = zone.period(Span::Day, at_ms);
        from_ms..to_ms
    };
    match since {
        Since::All => i64::MIN..i64::MAX,
        Since::Ago(ms) => now_ms.saturating_sub(ms)..now_ms.saturating_sub(ms),
        Since::Day(named) => day(zone.begin_ms(named)),
        Since::DaysAgo(days) => (0..days).fold(day(now_ms), |day_ms, _| day(day_ms.start - 1)),
    }
}

/// Reads a period as it is typed.
pub fn parse(text: &str) -> Result<Since, String> {
    if text == "all" {
        return Ok(Since::All);
    }
    if let Some((_, ago)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(Since::DaysAgo(*ago));
    }
    if let Some(day) = Day::parse(text) {
        return Ok(Since::Day(day));
    }
    let ago = duration::parse(text).and_then(|ms| i64::try_from(ms).ok());
    ago.map(Since::Ago).ok_or_else(|| "write `7d`, `today`, `2026-11-01` or `all`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_reads_as_typed() {
        let day = Day::parse("2026-11-01").map(Since::Day);
        for (text, since) in [
            ("7d", Some(Since::Ago(604_800_000))),
            ("24h", Some(Since::Ago(86_400_000))),
            ("2w", Some(Since::Ago(1_209_600_000))),
            ("2026-11-01", day),
            ("today", Some(Since::DaysAgo(0))),
            ("yesterday", Some(Since::DaysAgo(1))),
            ("all", Some(Since::All)),
            ("", None),
            ("d", None),
            ("-1d", None),
            ("7", None),
            ("2026-13-01", None),
            ("99999999999999999d", None),
            ("7é", None),
        ] {
            assert_eq!(parse(text).ok(), since, "{text}");
        }
    }
}
