//! Charges for model responses.

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;
use crate::domain::spend::replay_price::ReplayPrice;
use crate::domain::stored::serde_default::is_default;

/// What was billed on one day for the responses of one model in one project, of sessions whose detail is pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySum {
    /// The day: `2026-11-20`.
    pub day: String,
    /// The project, as a session has it.
    pub project: String,
    /// The model.
    pub model: String,
    /// What was spent.
    pub spend: Spend,
}

/// One model response, charged once per session by its id. What is not written into its JSON is a column of its row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// The `message.id`.
    #[serde(skip)]
    pub message: String,
    /// The session whose transcript has it.
    #[serde(skip)]
    pub session: String,
    /// The run it belongs to.
    #[serde(skip)]
    pub run: String,
    /// The model that answered.
    #[serde(skip)]
    pub model: String,
    /// When, milliseconds since 1970, by the transcript.
    #[serde(skip)]
    pub at_ms: i64,
    /// What it spent; `requests` is 1.
    #[serde(skip)]
    pub spend: Spend,
    /// What was charged for it before at an estimate, which stands under a name of its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub covered: Spend,
    /// Its output tokens.
    pub output: u64,
    /// Prompt tokens, cache included.
    pub context: u64,
    /// Prompt tokens that it wrote to the cache, contained in `spend.tokens`; `None` of an estimate, and where an earlier version
    /// has not kept it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache_writes: Option<u64>,
    /// Whether another session had been charged for it before: the row is a copy.
    #[serde(skip)]
    pub inherited: bool,
    /// Whether it is of a time when Fusebox was not installed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// Whether the model has no price of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_model: bool,
    /// Whether another program has changed its row.
    #[serde(skip)]
    pub is_altered: bool,
}

/// A charge with what it adds: all of it where the response is new, else its growth.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCharge {
    /// The response as it stands.
    pub charge: Charge,
    /// What it adds to the sums.
    pub adds: Spend,
    /// What the same would spend once more, now that the cache has its prompt.
    pub again: Spend,
    /// What sending the conversation again costs.
    pub replay_price: ReplayPrice,
}

/// How the names begin under which estimates stand among the responses: of those that are missing, and of those that no
/// transcript shows.
pub const ESTIMATES: [&str; 2] = ["unwritten:", "hidden:"];

/// Returns the name under which a compaction stands among the responses, by the id of its summary's row.
pub fn of_compaction(uuid: &str) -> String {
    format!("{}compaction:{uuid}", ESTIMATES[1])
}

impl Charge {
    /// Whether it is an estimate, and no row of a transcript.
    pub fn is_estimate(&self) -> bool {
        ESTIMATES.iter().any(|name| self.message.starts_with(name))
    }
}
