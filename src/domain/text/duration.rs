//! Lengths of time as people write them: `90s`, `10m`, `1.5h`.

use crate::domain::time_units::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};

/// Suffixes of times with their milliseconds.
const UNITS: [(&str, f64); 6] =
    [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3), ("d", 86_400e3), ("w", 604_800e3)];

/// How a sentence names the forms.
pub const FORMS: &str = "`90s`, `10m` or `1h`";

/// Reads a length of time into milliseconds; nothing where it has no unit, is no number or is negative.
pub fn parse(text: &str) -> Option<u64> {
    let (digits, scale) = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let ms = digits.parse::<f64>().ok()? * scale;
    (ms < u64::MAX as f64).then_some(ms.round() as u64)
}

/// Writes a length of time in the largest unit in which it is whole: `600000` as `10m`.
pub fn write(ms: u64) -> String {
    let whole = [(DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "m"), (SECOND_MS, "s")];
    let whole = whole.map(|(unit, name)| (unit.cast_unsigned(), name));
    let unit = whole.iter().find(|(unit, _)| ms > 0 && ms.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{ms}ms"), |(unit, name)| format!("{}{name}", ms / unit))
}

/// Writes a length of time as a sentence has one that was measured: `4.5 s`, `12.0 min`, `2.5 h`.
pub fn measured(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        60_000..7_200_000 => format!("{:.1} min", ms as f64 / 60e3),
        _ => format!("{:.1} h", ms as f64 / 3600e3),
    }
}

/// Writes a length of time as a sentence has one that is to pass, in whole units and never too short: `90 s`, `3 min`, `2 h`.
pub fn to_pass(ms: u64) -> String {
    match ms {
        0..120_000 => format!("{} s", ms.div_ceil(1_000)),
        120_000..7_200_000 => format!("{} min", ms.div_ceil(60_000)),
        _ => format!("{} h", ms.div_ceil(3_600_000)),
    }
}

/// Reads what [`to_pass`] has written into milliseconds.
pub fn read_to_pass(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ')?;
    parse(&format!("{number}{}", unit.get(..1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ahead_is_rounded_up_and_what_was_is_not() {
        for (ms, was, is_ahead) in [
            (0, "0.0 s", "0 s"),
            (1, "0.0 s", "1 s"),
            (59_900, "59.9 s", "60 s"),
            (60_000, "1.0 min", "60 s"),
            (120_001, "2.0 min", "3 min"),
            (7_199_999, "120.0 min", "120 min"),
            (7_200_001, "2.0 h", "3 h"),
        ] {
            assert_eq!((measured(ms).as_str(), to_pass(ms).as_str()), (was, is_ahead), "{ms}");
            assert!(read_to_pass(is_ahead).is_some_and(|read| (ms..ms + 3_600_000).contains(&read)), "{ms}");
        }
    }

    #[test]
    fn a_length_of_time_reads_as_people_write_it() {
        for (text, ms) in [
            ("90s", Some(90_000)),
            ("10m", Some(600_000)),
            ("1.5h", Some(5_400_000)),
            ("250ms", Some(250)),
            ("2d", Some(172_800_000)),
            ("0s", Some(0)),
            ("10", None),
            ("m", None),
            ("-5m", None),
            ("+5m", None),
            ("1e3s", None),
            ("10 m", None),
            ("9999999999999999999999d", None),
            ("nans", None),
        ] {
            assert_eq!(parse(text), ms, "{text}");
        }
    }

    #[test]
    fn a_length_of_time_is_written_as_it_reads() {
        for ms in [1, 999, 1_000, 90_000, 600_000, 5_400_000, 86_400_000, 90_061_000] {
            assert_eq!(parse(&write(ms)), Some(ms));
        }
        assert_eq!((write(600_000), write(90_000), write(0)), ("10m".to_owned(), "90s".to_owned(), "0ms".to_owned()));
    }
}
