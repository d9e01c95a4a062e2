//! What a session had spent before Fusebox was installed: it is shown, and no limit of the session is held to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::spend_before_prompt;
use crate::domain::stored::serde_default::is_default;

/// What is known of a session's time before Fusebox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendBeforeInstall {
    /// Whether what is read may still be of that time: the session was seen anew, and has not gone on since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_open: bool,
    /// Responses after this, in milliseconds since 1970, and ...
    #[serde(default, skip_serializing_if = "is_default")]
    pub from_ms: i64,
    /// ... before this are of that time. 0: none is; nothing: nobody has looked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub until_ms: Option<i64>,
    /// Whether the transcript shows that Fusebox had watched the session before the state knew it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub was_watched: bool,
    /// The file of limits that was changed while the session ran, where its state was deleted meanwhile: nothing runs until a person has
    /// looked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changed_limits: Option<String>,
    /// Whether the client is still to write down that Fusebox watches: nothing after that is of that time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_unmarked: bool,
    /// What they spent. The session's counters have it, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spent: Spend,
    /// What they spent, by model.
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

impl SpendBeforeInstall {
    /// Returns what is known of a session that is seen for the first time.
    pub fn of_new() -> SpendBeforeInstall {
        SpendBeforeInstall { is_open: true, ..SpendBeforeInstall::default() }
    }

    /// Opens it again for what a session spent between two moments: Fusebox was not installed then.
    pub fn reopen(&mut self, from_ms: i64, until_ms: i64) {
        (self.is_open, self.from_ms, self.until_ms) = (true, from_ms, Some(until_ms));
    }

    /// Whether a moment is of that time.
    pub fn has_moment(&self, at_ms: i64) -> bool {
        self.from_ms < at_ms && at_ms < self.until_ms.unwrap_or(0)
    }

    /// Sets a charge apart that a moment ago was found.
    pub fn take(&mut self, charge: &mut Charge, spend: Spend) {
        self.spent += spend;
        *self.models.entry(charge.model.clone()).or_default() += spend;
        charge.run = spend_before_prompt::id_of(&charge.session);
        charge.earlier = true;
    }

    /// Returns the same without what was spent.
    pub fn of_no_spend(&self) -> SpendBeforeInstall {
        let &SpendBeforeInstall { from_ms, until_ms, is_unmarked, .. } = self;
        SpendBeforeInstall { from_ms, until_ms, is_unmarked, ..SpendBeforeInstall::default() }
    }
}
