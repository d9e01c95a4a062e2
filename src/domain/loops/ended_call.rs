//! A call that has ended, as fingerprints, and how much patience its wait earns.

use crate::domain::event::{Fingerprints, Wait};
use crate::domain::time_units::HOUR_MS;

/// A call that took so long, and ended well, has waited.
const LONG_MS: u64 = 10_000;
/// What waits for less does not wait.
pub const SHORT_MS: u64 = 1_000;
/// Waits in a row with nothing new that are a repetition: each costs a request, as every call does, but they come slowly.
pub const WAITS: u64 = 100;
/// Identical failures in a row that are one, where each waits for a second, or retries in a loop of its own.
const SHORT_WAITS: u64 = 15;
/// Commands that use up a time limit of their own may fail the same way for so long, where that is within the figures above.
const LIMITED_MS: u64 = HOUR_MS.cast_unsigned();

/// One ended call, as fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedCall {
    /// Its tool, input and result; without the input where it does nothing but wait.
    pub call: u32,
    /// Its tool and error, where it failed.
    pub error: Option<u32>,
    /// Its input, without what varies by itself.
    pub input: u32,
    /// Whether it has waited.
    pub waited: bool,
    /// How often in a row a call may fail the same way after so long a wait; 0 where it shows none.
    pub patience: u64,
}

impl EndedCall {
    /// Returns what a call leaves behind that took so many milliseconds; nothing where nothing is known of it.
    pub fn of(fingerprints: Fingerprints, failed: bool, took_ms: Option<u64>) -> Option<EndedCall> {
        if fingerprints.all == 0 {
            return None;
        }
        // Of calls that end well the times of quick ones are not kept.
        let took_ms = if failed { took_ms } else { took_ms.or(Some(0)) };
        let patience = patience(fingerprints.wait, took_ms);
        let is_named = fingerprints.wait == Wait::Named;
        let waited = patience > 0 || !failed && (is_named || took_ms.is_some_and(|took| took >= LONG_MS));
        let call = if matches!(fingerprints.wait, Wait::Rests(_)) { fingerprints.error } else { fingerprints.all };
        Some(EndedCall {
            call,
            error: failed.then_some(fingerprints.error).filter(|error| *error != 0),
            input: fingerprints.input,
            waited,
            patience,
        })
    }
}

/// Returns how often in a row a call may fail the same way, by the wait that its input shows and its time confirms. Work that
/// takes long to fail is no wait: the input has to show one, and most of the time has to be the wait's.
fn patience(wait: Wait, took_ms: Option<u64>) -> u64 {
    match wait {
        // Most of its time was other work, or it never came to sleep.
        Wait::Sleeps(ms) | Wait::Rests(ms) if took_ms.is_some_and(|took| ms < took / 2 || took < ms / 2) => 0,
        Wait::Sleeps(ms) | Wait::Rests(ms) => patience_after(ms),
        Wait::Retries if took_ms.is_none_or(|took| took >= SHORT_MS) => SHORT_WAITS,
        Wait::Watches => took_ms.filter(|took| *took >= LONG_MS).map_or(0, patience_after),
        Wait::Named => took_ms.map_or(0, patience_after),
        Wait::Limited(limits) => {
            let used_up = |limit: &&u32| took_ms.is_some_and(|took| is_used_up(u64::from(**limit), took));
            let limit = limits.iter().find(used_up).map_or(0, |limit| u64::from(*limit));
            patience_after(limit).min(LIMITED_MS.checked_div(limit).unwrap_or(0).max(SHORT_WAITS))
        }
        Wait::Retries | Wait::No => 0,
    }
}

/// Returns how often in a row a call may fail the same way after a wait: ten times for each second, within bounds.
pub fn patience_after(waited_ms: u64) -> u64 {
    if waited_ms < SHORT_MS { 0 } else { (waited_ms / 100).clamp(SHORT_WAITS, WAITS) }
}

/// Whether a call ended because its own time limit was used up.
fn is_used_up(limit_ms: u64, took_ms: u64) -> bool {
    limit_ms >= SHORT_MS && (limit_ms * 9 / 10..=limit_ms * 5 / 4 + 2_000).contains(&took_ms)
}
