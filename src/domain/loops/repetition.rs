//! Repetition: the last calls of a run as fingerprints, and whether they go round in circles.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::loops::ended_call::{EndedCall, SHORT_MS, WAITS, patience_after};
use crate::domain::loops::failures::Failures;
use crate::domain::stored::serde_default::is_default;
use crate::domain::time_units::MINUTE_MS;

/// Identical calls with identical results in a row that are one.
const SAME: usize = 5;
/// How often a cycle of calls goes round.
const ROUNDS: usize = 3;
/// The longest cycle in calls.
const LONGEST: usize = 5;
/// How many calls are remembered: the longest cycle, and one call that goes on with it. So many waits are, too.
const REMEMBERED: usize = LONGEST * ROUNDS + 1;

/// Nothing was done for so long between two turns: what comes then is something new.
const IDLE_MS: u64 = MINUTE_MS.cast_unsigned();

/// What repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// So many times the same error of the same tool.
    Errors(u64),
    /// So many times the same error of the same tool, in turn with others that were there before.
    ErrorsInTurn(u64),
    /// The same call with the same result.
    Calls,
    /// A cycle of so many calls.
    Cycle(usize),
    /// So many waits.
    Waits,
}

impl fmt::Display for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repetition::Errors(times) => {
                write!(f, "the last {times} tool errors are identical, with nothing new in between")
            }
            Repetition::ErrorsInTurn(times) => {
                write!(f, "the same tool error came {times} times, in turn with others and with nothing new in between")
            }
            Repetition::Calls => write!(f, "the same call had the same result {SAME} times in a row"),
            Repetition::Cycle(calls) => write!(f, "the same {calls} calls came round {ROUNDS} times in a row"),
            Repetition::Waits => write!(f, "the same wait had the same result {WAITS} times in a row"),
        }
    }
}

/// The last calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallHistory {
    /// Fingerprints of the last calls with their results, the oldest first; the lowest bit says that a call has waited.
    #[serde(default, skip_serializing_if = "is_default")]
    calls: Vec<u32>,
    /// The last errors, and how often each came with nothing new in between.
    #[serde(default, skip_serializing_if = "is_default")]
    errors: Failures,
    /// Fingerprints of the last different waits with their results, the latest last.
    #[serde(default, skip_serializing_if = "is_default")]
    waits: Vec<u32>,
    /// How many waits there were with nothing new in between.
    #[serde(default, skip_serializing_if = "is_default")]
    waited: u64,
}

/// The bit of a remembered call that says that it has waited.
const WAITED: u32 = 1;

impl CallHistory {
    /// Takes a call in; `again` says that its batch has this error already: the agent could not know yet.
    pub fn push(&mut self, seen: EndedCall, again: bool) {
        let is_same = |call: &u32| call | WAITED == seen.call | WAITED;
        let is_known = self.calls.iter().chain(&self.waits).any(is_same);
        self.errors.wait(seen.patience);
        if seen.waited {
            self.waited = if is_known { self.waited + u64::from(!again) } else { 1 };
            self.waits.retain(|wait| !is_same(wait));
            keep_last(&mut self.waits, seen.call);
        }
        match seen.error {
            Some(_) if again => {}
            Some(error) => self.errors.push(error, seen.input),
            // To wait is no progress, and neither is what was there before.
            None if seen.waited || is_known => {}
            None => (self.errors, self.waited) = (Failures::default(), 0),
        }
        self.remember(if seen.waited { seen.call | WAITED } else { seen.call & !WAITED });
    }

    /// Takes note that something was done or waited for: what is the same before and after it is no cycle. Errors stay as they
    /// are.
    pub fn pass(&mut self) {
        self.remember(WAITED);
    }

    /// Takes note that the run did nothing for so long between two of its turns.
    pub fn idle(&mut self, ms: u64) {
        if ms >= IDLE_MS {
            return self.clear();
        }
        if ms >= SHORT_MS {
            self.errors.wait(patience_after(ms));
            self.pass();
        }
    }

    /// Takes in the calls of a turn that goes on with these.
    pub fn follow(&mut self, later: CallHistory) {
        if later.errors == Failures::default() && later.calls.iter().any(|call| call & WAITED == 0) {
            self.errors = Failures::default();
        }
        self.errors.follow(later.errors);
        later.calls.into_iter().for_each(|call| self.remember(call));
        later.waits.into_iter().for_each(|wait| keep_last(&mut self.waits, wait));
        self.waited += later.waited;
    }

    fn remember(&mut self, call: u32) {
        keep_last(&mut self.calls, call);
    }

    /// Returns how far a repetition has come: 0 for none, 1 once it is one, 2 when it has gone on after that.
    pub fn level(&self) -> u64 {
        if self.repeats(1).is_some() { 2 } else { u64::from(self.repeats(0).is_some()) }
    }

    /// Returns what repeats, `more` calls beyond what makes it a repetition.
    pub fn repeats(&self, more: usize) -> Option<Repetition> {
        if let Some(times) = self.errors.repeated(more) {
            let alternate = self.errors.alternate();
            return Some(if alternate { Repetition::ErrorsInTurn(times) } else { Repetition::Errors(times) });
        }
        if self.waited >= WAITS + more as u64 {
            return Some(Repetition::Waits);
        }
        let goes_round = |period: usize, times: usize| {
            let stretch = period * times + more;
            let Some(from) = self.calls.len().checked_sub(stretch) else { return false };
            let calls = &self.calls[from..];
            let is_quick = calls.iter().all(|call| call & WAITED == 0);
            is_quick && calls.iter().skip(period).zip(calls).all(|(later, earlier)| later == earlier)
        };
        if goes_round(1, SAME) {
            return Some(Repetition::Calls);
        }
        // A cycle of one call is another matter: it takes longer to be one.
        let varies = |period: usize| self.calls.iter().rev().take(period).any(|call| Some(call) != self.calls.last());
        (2..=LONGEST).find(|period| varies(*period) && goes_round(*period, ROUNDS)).map(Repetition::Cycle)
    }

    /// Notes that the agent was told of the repetition. One more call has to repeat it before it counts as going on.
    pub fn mark_notified(&mut self) {
        let keep = match self.repeats(0) {
            Some(Repetition::Errors(_) | Repetition::ErrorsInTurn(_)) => return self.errors.mark_notified(),
            Some(Repetition::Waits) => return self.waited = WAITS,
            Some(Repetition::Calls) => SAME,
            Some(Repetition::Cycle(calls)) => calls * ROUNDS,
            None => return,
        };
        let old = self.calls.len().saturating_sub(keep);
        self.calls.drain(..old);
    }

    /// Forgets everything: a person has let the run go on.
    pub fn clear(&mut self) {
        *self = CallHistory::default();
    }
}

/// Adds a fingerprint to the last ones.
fn keep_last(fingerprints: &mut Vec<u32>, one: u32) {
    fingerprints.push(one);
    let old = fingerprints.len().saturating_sub(REMEMBERED);
    fingerprints.drain(..old);
}

#[cfg(test)]
mod tests;
