//! Refusals in a row: batches of calls in which Fusebox refused something.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::stored::serde_default::is_default;
use crate::domain::verdict::Finding;

/// What stands before the limit that the last refusal was for, where a finding names it.
pub const LAST_FOR: &str = "the last for ";

/// What a run was refused since its last batch without a refusal.
///
/// A rate tells when its next slot opens. Its refusal counts only where the agent asks again before that: who was never told, or has
/// waited, goes against nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Denials {
    /// Batches in a row.
    #[serde(skip_serializing_if = "is_default")]
    pub in_a_row: u32,
    /// Whether a refusal of the batch at work counts.
    #[serde(skip_serializing_if = "is_default")]
    in_batch: bool,
    /// The limit that the last refusal which counts was for; empty where it was none.
    #[serde(skip_serializing_if = "is_default")]
    pub last: String,
    /// When each rate opens its next slot, in milliseconds since 1970, as the agent was told.
    #[serde(skip_serializing_if = "is_default")]
    told: BTreeMap<String, i64>,
    /// When each rate opens its next slot, as told in the batch at work: the agent reads that only once the batch is over.
    #[serde(skip_serializing_if = "is_default")]
    told_in_batch: BTreeMap<String, i64>,
}

impl Denials {
    /// Takes in that a call was refused, for a finding where a limit did it; returns whether that counts.
    pub fn refuse(&mut self, finding: Option<&Finding>, now_ms: i64) -> bool {
        let rate = finding.filter(|finding| finding.is_window() && finding.passes());
        let counts = rate.is_none_or(|rate| self.told.get(&rate.told_as()).is_some_and(|opens| now_ms < *opens));
        if let Some(rate) = rate {
            self.told.retain(|_, opens| now_ms < *opens);
            let opens = now_ms.saturating_add(i64::try_from(rate.frees_in_ms).unwrap_or(i64::MAX));
            self.told_in_batch.insert(rate.told_as(), opens);
        }
        if counts {
            self.in_batch = true;
            self.last = finding.map(|finding| finding.source.to_string()).unwrap_or_default();
        }
        counts
    }

    /// Takes in what a turn was refused that goes on behind these.
    pub fn follow(&mut self, later: Denials) {
        self.in_a_row = self.in_a_row.saturating_add(later.in_a_row);
        self.in_batch |= later.in_batch;
        if !later.last.is_empty() {
            self.last = later.last;
        }
        self.told.extend(later.told);
        self.told_in_batch.extend(later.told_in_batch);
    }

    /// Takes in that a call has to wait for something, where no end of a batch will be seen.
    pub fn wait(&mut self) {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.last.clear();
    }

    /// Takes in that the batch at work is over: its answers are read. One in which a rate alone has refused, for the first time,
    /// leaves things as they are.
    pub fn end_batch(&mut self) {
        if self.in_batch {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else if self.told_in_batch.is_empty() {
            self.in_a_row = 0;
        }
        self.in_batch = false;
        self.told.append(&mut self.told_in_batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::finding_source::FindingSource;
    use crate::domain::frees::Frees;
    use crate::domain::layer::Layer;
    use crate::domain::scope::Scope;

    fn finding(source: &str, subject: &str, frees_in_ms: u64) -> Finding {
        let frees = if frees_in_ms > 0 { Frees::In("10 s".to_owned()) } else { Frees::Never };
        let subject = subject.to_owned();
        let bare = Finding::bare(FindingSource::parse(source), Scope::Session, Action::Terminate, Layer::User);
        Finding { subject, frees, frees_in_ms, ..bare }
    }

    /// Returns how many refusals in a row count of calls to `tools`, a batch each, refused by a rate of ten seconds.
    fn counted(batches: &[(i64, &[&str])]) -> u32 {
        let mut denials = Denials::default();
        for (second, tools) in batches {
            for tool in *tools {
                denials.refuse(Some(&finding("rate_limits", tool, 10_000)), second * 1000);
            }
            denials.end_batch();
        }
        denials.in_a_row
    }

    #[test]
    fn a_rate_counts_where_it_is_asked_again_too_early() {
        assert_eq!(counted(&[(0, &["a"]), (0, &["b"]), (0, &["c"])]), 0, "each is told once");
        assert_eq!(counted(&[(0, &["a", "a", "a"])]), 0, "nothing was told before the batch");
        assert_eq!(counted(&[(0, &["a"]), (10, &["a"]), (20, &["a"])]), 0, "it waits each time as long as it was told");
        assert_eq!(counted(&[(0, &["a"]), (1, &["a"]), (2, &["a", "b"])]), 2, "it goes on asking");
    }

    #[test]
    fn what_does_not_pass_counts_at_once() {
        let mut denials = Denials::default();
        for number in 1..4 {
            denials.refuse(Some(&finding("max_subagents", "", 0)), 0);
            denials.refuse(None, 0);
            denials.end_batch();
            assert_eq!((denials.in_a_row, denials.last.as_str()), (number, ""));
        }
        denials.refuse(Some(&finding("rate_limits", "a", 10_000)), 0);
        denials.end_batch();
        assert_eq!(denials.in_a_row, 3, "a first refusal of a rate is no end of a row");
        denials.end_batch();
        assert_eq!(denials.in_a_row, 0);
    }
}
