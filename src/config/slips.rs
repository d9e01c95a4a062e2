//! What a person may have meant by a value that is wrong, or that is right and too small to be meant.

use serde_json::Value;

use crate::config::limit_name::LimitName;
use crate::config::problem::nearest;
use crate::domain::limit::Limit;
use crate::domain::text::duration;
use crate::domain::time_units::DAY_MS;
use crate::domain::unit::Unit;

/// Numbers of milliseconds below this were meant as seconds, but for whole thousands.
const SHORTEST_MS: u64 = 10_000;

/// Whether a number of milliseconds reads like one of seconds: 600, 3600.
fn is_of_seconds(ms: u64) -> bool {
    ms < 1_000 || (ms < SHORTEST_MS && !ms.is_multiple_of(1_000))
}

/// A request of the smallest model costs about so much, in pico-dollars.
const CHEAPEST: u64 = 1_000_000_000;
/// The smallest prompt that a client sends has more tokens than this.
const FEWEST_TOKENS: u64 = 1_000;

/// From so many milliseconds on a time in seconds may have been meant in milliseconds.
const LONG_MS: u64 = DAY_MS.cast_unsigned();

/// Words for an action or a mode that are none, and the one that they mean.
const MEANINGS: [(&str, &str); 13] = [
    ("abort", "terminate"),
    ("ask", "request_increase"),
    ("block", "deny"),
    ("block", "terminate"),
    ("dry_run", "observe"),
    ("dry-run", "observe"),
    ("end", "terminate"),
    ("kill", "terminate"),
    ("monitor", "observe"),
    ("notify", "warn"),
    ("permit", "allow"),
    ("stop", "terminate"),
    ("warning", "warn"),
];

/// Says which of some words may have been meant by a value.
pub fn meant_word(words: &[&'static str], value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let known = MEANINGS.iter().find(|(word, meant)| *word == text && words.contains(meant)).map(|(_, meant)| *meant);
    let meant = known.or_else(|| nearest(text, words.iter().copied()).filter(|_| !text.is_empty()))?;
    Some(format!("the nearest is `{meant}`"))
}

/// Says what may have been meant by a value that a limit does not take.
pub fn meant(named: LimitName, value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    if named.limit.unit == Unit::Millis {
        return Some(format!("a time reads like {}", duration::FORMS));
    }
    if let Some(number) = bare_number(text).or_else(|| thousands(text)) {
        return Some(format!("it is a plain number, without quotes or unit: {number}"));
    }
    duration::parse(text).map(|_| format!("`{text}` is a time; `max_duration_ms` and `max_wall_ms` take one"))
}

/// Returns the number in `$5`, `5 USD`, `1_000` or `"5"`.
fn bare_number(text: &str) -> Option<String> {
    let bare = text.trim_start_matches('$').trim_end_matches(['$', '€']);
    let bare = ["usd", "USD", "dollars", "tokens"].iter().fold(bare, |bare, unit| bare.trim_end_matches(unit));
    let digits: String = bare.trim().chars().filter(|c| !matches!(c, '_' | ',' | ' ')).collect();
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok();
    (is_plain && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')).then_some(digits)
}

/// Returns the number in `200k` or `1.5M`, as tokens are shown.
fn thousands(text: &str) -> Option<String> {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6)];
    let (number, times) = units.into_iter().find_map(|(unit, times)| Some((text.strip_suffix(unit)?, times)))?;
    let number = bare_number(number)?.parse::<f64>().ok()? * times;
    Some(number.round().to_string())
}

/// Says that a time in seconds is so long, and so round, that milliseconds were meant.
pub fn too_long(named: LimitName, value: &Value, cap: u64) -> Option<String> {
    let number = value.as_u64().filter(|number| number.is_multiple_of(1000))?;
    let is_round = cap.is_multiple_of(LONG_MS);
    (named.limit.unit == Unit::Millis && named.scale == 1000 && cap >= LONG_MS && !is_round).then(|| {
        let (days, as_time) = (cap as f64 / DAY_MS as f64, duration::write(number));
        format!("counts seconds: {number} are {days:.1} days; {number} milliseconds are `\"{as_time}\"`")
    })
}

/// Says that a cap is so small that something else was meant.
pub fn too_small(named: LimitName, value: &Value, cap: u64) -> Option<String> {
    match named.limit.unit {
        Unit::Millis if value.is_number() && named.scale == 1 && is_of_seconds(cap) => {
            let (as_seconds, as_time) = (duration::write(cap.saturating_mul(1000)), duration::write(cap));
            Some(format!("counts milliseconds: {cap} are `\"{as_time}\"`; {cap} seconds are `\"{as_seconds}\"`"))
        }
        Unit::Usd if cap < CHEAPEST => Some("is less than a request costs: nothing can run under it".to_owned()),
        Unit::Tokens if cap < FEWEST_TOKENS && named.limit.spent_by_requests() => {
            Some("is less than the prompt of one request has: nothing can run under it".to_owned())
        }
        _ => None,
    }
}

/// Says what the unit is, where a cap is below the smallest that may be.
pub fn below_ceiling(limit: &Limit, cap: u64) -> Option<String> {
    let is_time = limit.unit == Unit::Millis && is_of_seconds(cap);
    is_time.then(|| {
        format!("it counts milliseconds: {cap} seconds are `\"{}\"`", duration::write(cap.saturating_mul(1000)))
    })
}
