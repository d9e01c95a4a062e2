//! The figures of a limit as people and agents read them: what is used, of how much, and what is to come.

use crate::domain::limit::Limit;
use crate::domain::unit::Unit;
use crate::ui::formats::counted;

/// Returns `23/25`, with the unit once: `0.80/1.00 USD`; without where the label says it.
pub fn pair(limit: &Limit, used: u64, cap: u64) -> String {
    let (used, cap) = used_and_cap(limit, used, cap);
    format!("{used}/{cap}")
}

/// Returns both by themselves: the cap says the unit.
pub fn used_and_cap(limit: &Limit, used: u64, cap: u64) -> (String, String) {
    let (few, cap) = (limit.show(cap), limit.show_cap(cap));
    // Beside a cap with more digits it has as many.
    let used = if cap == few { limit.show(used) } else { limit.show_cap(used) };
    match (used.rsplit_once(' '), cap.rsplit_once(' ')) {
        (Some((used, unit)), Some((bare, same))) if unit == same => {
            (used.to_owned(), if names(limit, unit) { bare.to_owned() } else { cap })
        }
        _ => (used, cap),
    }
}

/// What is taken to come beyond what is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// How much, in the limit's base unit; 0 where nothing is.
    pub amount: u64,
    /// How many requests that is; 0 where it is not known.
    pub requests: u64,
}

/// Returns `4.81/10.00 USD + 7.22 for 2 requests to come`: what is used, and where that alone does not reach the cap what requests under way and
/// the next ones are taken for, with which it does. Whoever tells of a trip tells these figures.
pub fn figures_of_trip(limit: &Limit, used: u64, cap: u64, ahead: Ahead) -> String {
    pair(limit, used, cap) + &ahead_of_trip(limit, used, cap, ahead)
}

/// Returns a value without the unit that the label says already.
pub fn bare_of_label(limit: &Limit, value: u64) -> String {
    match limit.show(value) {
        shown if shown.rsplit_once(' ').is_some_and(|(_, unit)| names(limit, unit)) => bare(limit, value),
        shown => shown,
    }
}

/// From this per cent on the number of requests is left out.
const NEARLY_ALL: u64 = 90;

/// Returns ` + 7.22 for 2 requests to come`, or ` + 0.31 to come`; nothing where the figures themselves show that all is used.
pub fn ahead_of_trip(limit: &Limit, used: u64, cap: u64, ahead: Ahead) -> String {
    if ahead.amount == 0 || !limit.spent_by_requests() || used >= cap || limit.show(used) == limit.show(cap) {
        return String::new();
    }
    let requests = match (limit.unit, ahead.requests) {
        // Its figures are requests, or how many are to come is not known.
        (Unit::Count, _) | (_, 0) => String::new(),
        _ if used >= cap / 100 * NEARLY_ALL => String::new(),
        (_, requests) => format!(" for {}", counted(requests, "request")),
    };
    format!(" + {}{requests} to come", bare(limit, ahead.amount))
}

/// Returns a value without its unit, which stands beside it.
pub fn bare(limit: &Limit, value: u64) -> String {
    without_unit(limit, limit.show(value))
}

/// Returns a cap without its unit.
pub fn bare_cap(limit: &Limit, cap: u64) -> String {
    without_unit(limit, limit.show_cap(cap))
}

fn without_unit(limit: &Limit, shown: String) -> String {
    if matches!(limit.unit, Unit::Usd | Unit::Tokens) {
        shown.split(' ').next().unwrap_or_default().to_owned()
    } else {
        shown
    }
}

/// Whether a limit's label says the unit already: `tokens`, `prompt tokens of one request`.
fn names(limit: &Limit, unit: &str) -> bool {
    limit.texts.label.split(' ').any(|word| word == unit)
}
