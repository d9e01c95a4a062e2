//! What a session had spent before Fusebox was installed: it is shown, and no limit of the session is held to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::history;
use crate::engine::meters::Spend;
use crate::engine::record::Charge;
use crate::engine::serde_default::is_default;

/// What is known of a session's time before Fusebox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// Whether what is read may still be of that time: the session was first seen, and has not gone on since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_open: bool,
    /// Responses before this are of that time, in milliseconds since 1970. 0: none is; nothing: nobody has looked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub until_ms: Option<i64>,
    /// What they spent. The session's tally has it, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: Spend,
    /// The same by model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: BTreeMap<String, Spend>,
    /// Tool calls of that time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub turns: u64,
    /// Subagents of that time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subagents: u64,
    /// What was found when the session was first seen, and counts: nothing proves that it is of that time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: Spend,
}

impl Earlier {
    /// Returns what is known of a session that is seen for the first time.
    pub fn of_new() -> Earlier {
        Earlier { is_open: true, ..Earlier::default() }
    }

    /// Whether a charge was set apart.
    pub fn has(&self, charge: &Charge) -> bool {
        let until_ms = self.until_ms.unwrap_or(0);
        charge.at_ms < until_ms && charge.run == history::id_of(&charge.session)
    }

    /// Sets a charge apart that a moment ago was found.
    pub fn take(&mut self, model: &str, spend: Spend) {
        self.spent += spend;
        *self.models.entry(model.to_owned()).or_default() += spend;
    }

    /// Whether there was anything.
    pub fn is_any(&self) -> bool {
        self.spent.requests > 0 || self.turns > 0
    }
}
