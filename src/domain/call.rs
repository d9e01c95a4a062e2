//! What is remembered of a tool call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::event::Moment;
use crate::domain::meters::Spend;
use crate::domain::serde_default::is_default;

/// How a tool call was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Not decided: it was first seen after it ran, or not at all.
    #[default]
    Unseen,
    /// It ran or runs, and is counted.
    Counted,
    /// A dialog about it is open; counted when it runs.
    Asked,
    /// Fusebox refused it; never counted.
    Refused,
}

/// Whether a call's end was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Not seen.
    #[default]
    No,
    /// It succeeded.
    Well,
    /// It ran and failed.
    Failed,
}

impl Ended {
    fn is_not_seen(&self) -> bool {
        *self == Ended::No
    }
}

/// A request to the model that was charged at an estimate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The model.
    pub model: String,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// What it was taken for.
    pub spend: Spend,
}

/// What is remembered of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The run that made it; written once the call is filed, before that the run itself keeps the call.
    #[serde(skip)]
    pub run: String,
    /// How it was met.
    #[serde(default)]
    pub state: CallState,
    /// When it asked to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Moment>,
    /// A hash of the command or the path that was let through, where it names anything that the guard looks at; else zero.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subject: u64,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Ended::is_not_seen")]
    pub ended: Ended,
    /// How long it took by itself in milliseconds, where that was long enough to tell something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What it was taken for that the client asks the model for it and no transcript shows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden: Option<Asked>,
    /// Whether its batch is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// Answers already given, by event, so that a second process gives the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}
