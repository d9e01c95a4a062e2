//! The last errors of a run, and how often each came with nothing new in between: of one input, and of all.

use serde::{Deserialize, Serialize};

/// Identical errors of one input, with nothing new in between, that are a repetition at full speed.
const ERRORS: u64 = 3;
/// How many times as many are one where the inputs differ: a word may vary that means nothing.
const OF_OTHER_INPUTS: u64 = 3;
/// How many errors are remembered beside each other, where they come in turn.
const REMEMBERED: usize = 5;
/// How many inputs are remembered of an error: with one more it is a repetition, whatever the inputs.
const INPUTS: usize = (ERRORS * OF_OTHER_INPUTS - 1) as usize;
/// The sum of shares at which failures are a repetition: a failure's share is the less the longer was waited for it.
const FULL: u64 = 3_000;

/// How often something failed the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Count {
    /// How often it came.
    times: u64,
    /// The sum of their shares.
    sum: u64,
}

impl Count {
    /// Takes in that it came once more. The first time has no pace yet, and counts as the second does.
    fn add(&mut self, share: u64, full: u64) {
        let added = match self.times {
            0 => 0,
            1 => 2 * share,
            _ => share,
        };
        self.times += 1;
        // The agent is told where the sum is full, and one more has to go on with it before it has gone on.
        let most = if self.sum < full { full } else { u64::MAX };
        self.sum = (self.sum + added).min(most);
    }
}

/// Identical failures with nothing new in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Failure {
    /// The error.
    error: u32,
    /// How often it came, whatever the input.
    #[serde(flatten)]
    all: Count,
    /// How often in a row it may come, by the longest wait since it came last.
    patience: u64,
    /// How often it came of each of the last inputs, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<(u32, Count)>,
}

impl Failure {
    fn count(&mut self, input: u32) {
        let share = FULL / std::mem::take(&mut self.patience).max(ERRORS);
        self.all.add(share, FULL * OF_OTHER_INPUTS);
        let known = self.inputs.iter().position(|(known, _)| *known == input);
        let (_, mut own) = known.map(|known| self.inputs.remove(known)).unwrap_or_default();
        own.add(share, FULL);
        self.inputs.push((input, own));
        let old = self.inputs.len().saturating_sub(INPUTS);
        self.inputs.drain(..old);
    }

    /// Returns how often it came, where that has gone so far beyond what makes a repetition: of one input, or of all.
    fn repeated(&self, more: u64) -> Option<u64> {
        let own = self.inputs.iter().map(|(_, own)| own).find(|own| own.sum >= FULL + more);
        own.or(Some(&self.all).filter(|all| all.sum >= FULL * OF_OTHER_INPUTS + more)).map(|count| count.times)
    }

    fn mark_notified(&mut self) {
        self.all.sum = self.all.sum.min(FULL * OF_OTHER_INPUTS);
        self.inputs.iter_mut().for_each(|(_, own)| own.sum = own.sum.min(FULL));
    }
}

/// The last errors, the latest last: they may come in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Takes in a failure of an input. An error that was not there before is something new.
    pub fn push(&mut self, error: u32, input: u32) {
        let known = self.0.iter().position(|failure| failure.error == error);
        let mut failure = match known {
            Some(known) => self.0.remove(known),
            None => {
                self.begin_anew();
                Failure { error, ..Failure::default() }
            }
        };
        failure.count(input);
        self.0.push(failure);
        let old = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..old);
    }

    /// Takes in failures that came after these.
    pub fn follow(&mut self, later: Failures) {
        for Failure { error, inputs, .. } in later.0 {
            let each = inputs.into_iter().flat_map(|(input, count)| (0..count.times).map(move |_| input));
            each.for_each(|input| self.push(error, input));
        }
    }

    /// Counts from the start what is remembered.
    fn begin_anew(&mut self) {
        self.0.iter_mut().for_each(|failure| (failure.all, failure.inputs) = (Count::default(), Vec::new()));
    }

    /// Takes note of a wait, after which each error may come so often in a row.
    pub fn wait(&mut self, patience: u64) {
        self.0.iter_mut().for_each(|failure| failure.patience = failure.patience.max(patience));
    }

    /// Returns how often the latest came whose sum has gone so far beyond what makes a repetition.
    pub fn repeated(&self, more: usize) -> Option<u64> {
        self.0.iter().rev().find_map(|failure| failure.repeated(more as u64))
    }

    /// Whether there is more than one with nothing new in between.
    pub fn alternate(&self) -> bool {
        self.0.iter().filter(|failure| failure.all.times > 0).count() > 1
    }

    /// Notes that the agent was told of the repetition.
    pub fn mark_notified(&mut self) {
        self.0.iter_mut().for_each(Failure::mark_notified);
    }
}
