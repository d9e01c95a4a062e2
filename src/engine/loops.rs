//! Repetition: the last calls of a run as fingerprints, and whether they go round in circles.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::event::{Prints, Wait};
use crate::engine::serde_default::is_default;

/// The key of the limit on repetition.
pub const LOOPS: &str = "loop_detection";
/// Identical errors in a row, with nothing new in between, that are a repetition.
const ERRORS: usize = 3;
/// Identical calls with identical results in a row that are one.
const SAME: usize = 5;
/// How often a cycle of calls goes round.
const ROUNDS: usize = 3;
/// The longest cycle in calls.
const LONGEST: usize = 5;
/// How many calls are remembered: the longest cycle, and one call that goes on with it.
const REMEMBERED: usize = LONGEST * ROUNDS + 1;

/// A call that took so long, and ended well, has waited.
const LONG_MS: u64 = 10_000;
/// A call that sleeps for less does not wait.
const SHORT_MS: u64 = 1_000;
/// Identical waits in a row that are a repetition: each costs a request, as every call does, but they come slowly.
const WAITS: u64 = 100;
/// Identical failures in a row that are one, of calls that sleep some seconds or retry in a loop of their own.
const SHORT_WAITS: u64 = 15;

/// One ended call, as fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its tool, input and result.
    pub call: u32,
    /// Its tool and error, where it failed.
    pub error: Option<u32>,
    /// How many times in a row it may be the same, where it waited; 0 where it did not.
    pub waits: u64,
}

impl Seen {
    /// Returns what a call leaves behind that took so many milliseconds; nothing where nothing is known of it.
    pub fn of(prints: Prints, failed: bool, took_ms: Option<u64>) -> Option<Seen> {
        if prints.all == 0 {
            return None;
        }
        let waits = if failed { waits_failing(prints.wait, took_ms) } else { waits_well(prints.wait, took_ms) };
        Some(Seen { call: prints.all, error: failed.then_some(prints.error).filter(|error| *error != 0), waits })
    }
}

/// Returns how often a call that ended well may be the same, where it waited: whatever takes long is no loop at full speed.
fn waits_well(wait: Wait, took_ms: Option<u64>) -> u64 {
    let waited = match wait {
        Wait::Sleeps(ms) => ms >= SHORT_MS,
        Wait::Retries => true,
        Wait::Watches | Wait::No => false,
    };
    if waited || took_ms.is_some_and(|took| took >= LONG_MS) { WAITS } else { 0 }
}

/// Returns how often a call may fail the same way, where it waited. Work that takes long to fail is no wait: the input has to
/// show one, and most of the time has to be the sleep's.
fn waits_failing(wait: Wait, took_ms: Option<u64>) -> u64 {
    match wait {
        // Most of its time was other work, or it never came to sleep.
        Wait::Sleeps(ms) if took_ms.is_some_and(|took| ms < took / 2 || took < ms / 2) => 0,
        Wait::Sleeps(LONG_MS..) => WAITS,
        Wait::Sleeps(SHORT_MS..) => SHORT_WAITS,
        Wait::Retries if took_ms.is_none_or(|took| took >= SHORT_MS) => SHORT_WAITS,
        Wait::Watches if took_ms.is_some_and(|took| took >= LONG_MS) => WAITS,
        Wait::Sleeps(_) | Wait::Retries | Wait::Watches | Wait::No => 0,
    }
}

/// What repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The same error of the same tool.
    Errors,
    /// The same call with the same result.
    Calls,
    /// A cycle of so many calls.
    Cycle(usize),
    /// So many times the same wait.
    Waits(u64),
}

impl fmt::Display for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repetition::Errors => write!(f, "the last {ERRORS} tool errors are identical, with nothing new in between"),
            Repetition::Calls => write!(f, "the same call had the same result {SAME} times in a row"),
            Repetition::Cycle(calls) => write!(f, "the same {calls} calls came round {ROUNDS} times in a row"),
            Repetition::Waits(most) => write!(f, "the same wait had the same result {most} times in a row"),
        }
    }
}

/// The last calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loops {
    /// Fingerprints of the last calls with their results, the oldest first.
    #[serde(default, skip_serializing_if = "is_default")]
    calls: Vec<u32>,
    /// The last error, and how often it came with nothing new in between.
    #[serde(default, skip_serializing_if = "is_default")]
    errors: (u32, usize),
    /// The last wait with its result, how often it came with nothing new in between, and how often is a repetition.
    #[serde(default, skip_serializing_if = "is_default")]
    waits: (u32, u64, u64),
}

impl Loops {
    /// Takes a call in; `again` says that its batch has this error already: the agent could not know yet.
    pub fn push(&mut self, seen: Seen, again: bool) {
        if seen.waits > 0 {
            let print = seen.error.unwrap_or(seen.call);
            let times = if print == self.waits.0 { self.waits.1 + u64::from(!again) } else { 1 };
            self.waits = (print, times, seen.waits);
            return self.pass();
        }
        match seen.error {
            Some(_) if again => {}
            Some(error) if error == self.errors.0 => self.errors.1 += 1,
            Some(error) => self.errors = (error, 1),
            None if self.calls.contains(&seen.call) => {}
            // A result that was not there before is progress.
            None => (self.errors, self.waits) = ((0, 0), (0, 0, 0)),
        }
        self.remember(seen.call);
    }

    /// Takes note that something was done or waited for: what is the same before and after it is no cycle. Errors stay as they
    /// are.
    pub fn pass(&mut self) {
        let unlike_all = (1..).find(|mark| !self.calls.contains(mark));
        self.remember(unlike_all.unwrap_or_default());
    }

    fn remember(&mut self, call: u32) {
        self.calls.push(call);
        let old = self.calls.len().saturating_sub(REMEMBERED);
        self.calls.drain(..old);
    }

    /// Returns how far a repetition has come: 0 for none, 1 once it is one, 2 when it has gone on after that.
    pub fn level(&self) -> u64 {
        if self.repeats(1).is_some() { 2 } else { u64::from(self.repeats(0).is_some()) }
    }

    /// Returns what repeats, `more` calls beyond what makes it a repetition.
    pub fn repeats(&self, more: usize) -> Option<Repetition> {
        if self.errors.1 >= ERRORS + more {
            return Some(Repetition::Errors);
        }
        let (_, times, most) = self.waits;
        if most > 0 && times >= most + more as u64 {
            return Some(Repetition::Waits(most));
        }
        let goes_round = |period: usize, times: usize| {
            let stretch = period * times + more;
            let Some(from) = self.calls.len().checked_sub(stretch) else { return false };
            let calls = &self.calls[from..];
            calls.iter().skip(period).zip(calls).all(|(later, earlier)| later == earlier)
        };
        if goes_round(1, SAME) {
            return Some(Repetition::Calls);
        }
        // A cycle of one call is another matter: it takes longer to be one.
        let varies = |period: usize| self.calls.iter().rev().take(period).any(|call| Some(call) != self.calls.last());
        (2..=LONGEST).find(|period| varies(*period) && goes_round(*period, ROUNDS)).map(Repetition::Cycle)
    }

    /// Takes note that the agent was told: one more call has to go on with it before it has gone on.
    pub fn told(&mut self) {
        let keep = match self.repeats(0) {
            Some(Repetition::Errors) => return self.errors.1 = ERRORS,
            Some(Repetition::Waits(most)) => return self.waits.1 = most,
            Some(Repetition::Calls) => SAME,
            Some(Repetition::Cycle(calls)) => calls * ROUNDS,
            None => return,
        };
        let old = self.calls.len().saturating_sub(keep);
        self.calls.drain(..old);
    }

    /// Forgets everything: a person has let the run go on.
    pub fn forget(&mut self) {
        *self = Loops::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes in calls told as letters: a lower-case letter is a call with its result, an upper-case one an error; at `~` it
    /// waits, at `!` the agent is told.
    fn after(story: &str) -> (u64, Option<Repetition>) {
        let mut loops = Loops::default();
        for letter in story.chars() {
            if letter == '!' {
                loops.told();
                continue;
            }
            if letter == '~' {
                loops.pass();
                continue;
            }
            let call = u32::from(letter);
            loops.push(Seen { call, error: letter.is_uppercase().then_some(call), waits: 0 }, false);
        }
        (loops.level(), loops.repeats(0))
    }

    #[test]
    fn repetition_is_seen_and_progress_is_not() {
        for (story, level, what) in [
            ("", 0, None),
            ("AA", 0, None),
            ("AAA", 1, Some(Repetition::Errors)),
            ("AAAA", 2, Some(Repetition::Errors)),
            ("AABA", 0, None),
            ("AAcA", 0, None),
            ("cAcAcA", 1, Some(Repetition::Errors)),
            ("aaaa", 0, None),
            ("aaaaa", 1, Some(Repetition::Calls)),
            ("aaaaaa", 2, Some(Repetition::Calls)),
            ("aaaab", 0, None),
            ("ababab", 1, Some(Repetition::Cycle(2))),
            ("abababa", 2, Some(Repetition::Cycle(2))),
            ("abcabcabc", 1, Some(Repetition::Cycle(3))),
            ("abcdeabcdeabcde", 1, Some(Repetition::Cycle(5))),
            ("abcdeabcdeabcdea", 2, Some(Repetition::Cycle(5))),
            ("abcdefabcdefabcdef", 0, None),
            ("xyababab", 1, Some(Repetition::Cycle(2))),
            ("ababac", 0, None),
            // a batch that repeats itself more often than that is told first, too
            ("aaaaaaaa!", 1, Some(Repetition::Calls)),
            ("aaaaaaaa!a", 2, Some(Repetition::Calls)),
            ("AAAAA!", 1, Some(Repetition::Errors)),
            ("AAAAA!A", 2, Some(Repetition::Errors)),
            ("abababab!", 1, Some(Repetition::Cycle(2))),
            ("abababab!a", 2, Some(Repetition::Cycle(2))),
            // what waits between looks repeats nothing, but for errors
            ("~~~~~~~~~~~~~~~~~~~~", 0, None),
            ("a~a~a~a~a~a~a~a~a~a~a~a~a~", 0, None),
            ("ab~ab~ab~ab~ab~ab~", 0, None),
            ("A~A~A", 1, Some(Repetition::Errors)),
            ("~aaaaa", 1, Some(Repetition::Calls)),
            // a growing log: every result differs
            ("abcdefghijklmnop", 0, None),
        ] {
            assert_eq!(after(story), (level, what), "{story}");
        }
    }

    #[test]
    fn a_wait_is_a_repetition_once_it_has_been_the_same_for_long() {
        let wait = |call, waits| Seen { call, error: None, waits };
        for waits in [SHORT_WAITS, WAITS] {
            let mut loops = Loops::default();
            for time in 1..=waits {
                assert_eq!(loops.level(), 0, "{time}");
                loops.push(wait(7, waits), false);
            }
            assert_eq!((loops.level(), loops.repeats(0)), (1, Some(Repetition::Waits(waits))));
            loops.told();
            assert_eq!(loops.level(), 1);
            loops.push(wait(7, waits), false);
            assert_eq!(loops.level(), 2);
            // A result that was not there before is progress, in a wait and beside it.
            let mut looked = loops.clone();
            loops.push(wait(8, waits), false);
            looked.push(Seen { call: 900, error: None, waits: 0 }, false);
            assert_eq!((loops.level(), looked.level()), (0, 0));
        }
    }
}
