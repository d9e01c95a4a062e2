//! The last errors of a run, and how often each came with nothing new in between.

use serde::{Deserialize, Serialize};

/// Identical errors, with nothing new in between, that are a repetition at full speed.
const ERRORS: u64 = 3;
/// How many errors are remembered beside each other, where they come in turn.
const REMEMBERED: usize = 5;
/// The sum of shares at which failures are a repetition: a failure's share is the less the longer was waited for it.
const FULL: u64 = 3_000;

/// Identical failures with nothing new in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Failure {
    /// The error.
    error: u32,
    /// How often it came until it was a repetition.
    times: u64,
    /// The sum of their shares.
    sum: u64,
    /// How often in a row it may come, by the longest wait since it came last.
    patience: u64,
}

impl Failure {
    /// Takes in that it came once more. The first time has no pace yet, and counts as the second does.
    fn count(&mut self) {
        let share = FULL / std::mem::take(&mut self.patience).max(ERRORS);
        let added = match self.times {
            0 => 0,
            1 => 2 * share,
            _ => share,
        };
        self.times += u64::from(self.sum < FULL);
        // The agent is told where the sum is full, and one more has to go on with it before it has gone on.
        let most = if self.sum < FULL { FULL } else { u64::MAX };
        self.sum = (self.sum + added).min(most);
    }
}

/// The last errors, the latest last: they may come in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Takes in a failure. One that was not there before is something new.
    pub fn push(&mut self, error: u32) {
        let known = self.0.iter().position(|failure| failure.error == error);
        let mut failure = match known {
            Some(known) => self.0.remove(known),
            None => {
                self.begin_anew();
                Failure { error, ..Failure::default() }
            }
        };
        failure.count();
        self.0.push(failure);
        let old = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..old);
    }

    /// Counts from the start what is remembered.
    fn begin_anew(&mut self) {
        self.0.iter_mut().for_each(|failure| (failure.times, failure.sum) = (0, 0));
    }

    /// Takes note of a wait, after which each error may come so often in a row.
    pub fn wait(&mut self, patience: u64) {
        self.0.iter_mut().for_each(|failure| failure.patience = failure.patience.max(patience));
    }

    /// Returns how often the latest came whose sum has gone so far beyond what makes a repetition.
    pub fn repeated(&self, more: usize) -> Option<u64> {
        Some(self.0.iter().rev().find(|failure| failure.sum >= FULL + more as u64)?.times)
    }

    /// Whether there is more than one with nothing new in between.
    pub fn alternate(&self) -> bool {
        self.0.iter().filter(|failure| failure.times > 0).count() > 1
    }

    /// Takes note that the agent was told of what is a repetition.
    pub fn mark_told(&mut self) {
        self.0.iter_mut().for_each(|failure| failure.sum = failure.sum.min(FULL));
    }
}
