//! What is remembered of a tool call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::clock;
use crate::engine::event::Moment;
use crate::engine::session::is_default;

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

/// What is remembered of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The run that made it. A column of its row.
    #[serde(skip)]
    pub run: String,
    /// The tool; empty where no event has named it. A column of its row.
    #[serde(skip)]
    pub tool: String,
    /// How it was met. A column of its row.
    #[serde(skip)]
    pub state: CallState,
    /// When it asked to run. The wall time is a column of its row.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "clock::optional")]
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
    /// Whether its batch is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// Answers already given, by event, so that a second process gives the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}
