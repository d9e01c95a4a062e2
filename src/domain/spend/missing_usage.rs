//! Responses whose usage is missing from the transcript.

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;
use crate::domain::stored::serde_default::is_default;

/// The responses of a transcript that were charged at an estimate and have not come since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingUsage {
    /// How many, and their estimates.
    pub sum: Spend,
    /// How many were ever charged.
    #[serde(default, rename = "made", skip_serializing_if = "is_default")]
    pub ever_charged: u64,
    /// Whether some of them are on disk, and doubted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub doubted: bool,
    /// Compactions that hooks have announced and whose summaries are not read yet; negative where a summary was read first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compactions: i32,
    /// Compactions that were charged at what was held for them, since their summaries took too long, and what they were charged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub late_summaries: Spend,
    /// When the last of them was charged, in milliseconds since 1970. A response with a later time is none of them.
    pub until_ms: i64,
}

/// When a run's transcript last grew, as far as its events show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// Not since the run began.
    #[default]
    Never,
    /// Not since its last batch ended.
    Before,
    /// Since then.
    Now,
    /// It is not there: nothing of it can come.
    Gone,
}

impl Growth {
    /// Returns it after the transcript was read, which `has_grown` or has not.
    pub fn after_reading(self, has_grown: bool) -> Growth {
        match (has_grown, self) {
            (true, _) => Growth::Now,
            (false, Growth::Gone) => Growth::Before,
            (false, other) => other,
        }
    }
}
