//! The record of a tool call: how it was answered, how it ended, and what it was charged for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::spend::meters::Spend;
use crate::domain::stored::clock;
use crate::domain::stored::serde_default::is_default;

/// How a tool call was decided.
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

impl CallState {
    /// Every state.
    pub const ALL: [CallState; 4] = [CallState::Unseen, CallState::Counted, CallState::Asked, CallState::Refused];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            CallState::Unseen => "unseen",
            CallState::Counted => "counted",
            CallState::Asked => "asked",
            CallState::Refused => "refused",
        }
    }
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
    /// The estimate.
    pub spend: Spend,
}

/// The record of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The run that made it. A column of its row.
    #[serde(skip)]
    pub run: String,
    /// The tool; empty where no event has named it. A column of its row.
    #[serde(skip)]
    pub tool: String,
    /// How it was decided. A column of its row.
    #[serde(skip)]
    pub state: CallState,
    /// When it asked to run. The wall time is a column of its row.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "clock::optional")]
    pub requested: Option<Moment>,
    /// A hash of the admitted command or path, where it names anything that the guard checks; else 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subject: u64,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Ended::is_not_seen")]
    pub ended: Ended,
    /// How long it took without dialogs, in milliseconds; `None` where that was too short to matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The estimate charged for the requests that the client makes for it and no transcript shows.
    #[serde(default, rename = "hidden", skip_serializing_if = "is_default")]
    pub unlogged: Option<Asked>,
    /// Whether its batch is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// The answers given, by event, so that a second process for the same event gives the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
    /// Whether another program has changed its row.
    #[serde(skip)]
    pub is_altered: bool,
    /// Whether its row has a seal: an earlier version writes none.
    #[serde(skip)]
    pub is_sealed: bool,
}
