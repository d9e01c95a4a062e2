//! Since when: `7d`, `24h`, `2026-11-01`, `all`.

use crate::calendar::Day;

/// From when on a report counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds ago.
    Ago(i64),
    /// The beginning of a day in the local time zone.
    Day(Day),
    /// The beginning.
    All,
}

/// Units of time with their milliseconds.
const UNITS: [(char, i64); 5] =
    [('s', 1_000), ('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 7 * 86_400_000)];

/// Reads a period as it is typed.
pub fn parse(text: &str) -> Result<Since, String> {
    if text == "all" {
        return Ok(Since::All);
    }
    if let Some(day) = Day::parse(text) {
        return Ok(Since::Day(day));
    }
    let ago = UNITS.iter().find_map(|(unit, ms)| {
        let count: i64 = text.strip_suffix(*unit)?.parse().ok().filter(|count| *count >= 0)?;
        count.checked_mul(*ms)
    });
    ago.map(Since::Ago).ok_or_else(|| "expected `7d`, `24h`, `30m`, a day like `2026-11-01`, or `all`".to_owned())
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
