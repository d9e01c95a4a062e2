//! Dialogs that people are asked with, and what is still to be shown of their answers. Saved with the session.

use serde::{Deserialize, Serialize};

use crate::domain::moment::Moment;
use crate::domain::scope::Scope;
use crate::domain::stored::serde_default::is_default;
use crate::domain::verdict::Finding;

/// Where a transcript ended at some moment: what is written of an answer comes after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TranscriptEnd {
    /// The file.
    pub path: String,
    /// Its length in bytes.
    pub offset: u64,
    /// What tells it from other files; 0 where it was not there yet.
    pub file: u64,
}

/// What is still to be shown of a call's dialog: who answered it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Where the transcript ended before the answer; `None` where nobody reads transcripts, so that nothing is to be shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: Option<TranscriptEnd>,
    /// When the call's batch was over: some moments later the transcript has the answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over_at: Option<Moment>,
}

/// An increase that a person is being asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPrompt {
    /// The call whose dialog asks.
    pub tool_use_id: String,
    /// The run that made it.
    pub run: String,
    /// The trip it is about.
    pub finding: Finding,
    /// What a Yes adds, in the limit's base unit.
    pub increase: u64,
    /// When the client has announced the dialog.
    #[serde(default, skip_serializing_if = "is_default")]
    pub opened_at: Option<Moment>,
    /// Whether a Yes has been seen. It is kept until the transcript shows who gave it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub granted: bool,
    /// When that was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub granted_at: Moment,
    /// What a Yes has added, in the limit's base unit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub raised_by: u64,
    /// Whether the Yes came too soon to grant anything.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hasty: bool,
    /// What is still to be shown of its answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub proof: Proof,
}

impl PendingPrompt {
    /// Makes the question that a call of a run asks about a trip.
    pub fn new(call: &str, run: &str, finding: &Finding) -> PendingPrompt {
        PendingPrompt {
            tool_use_id: call.to_owned(),
            run: run.to_owned(),
            finding: finding.clone(),
            increase: finding.increase,
            opened_at: None,
            granted: false,
            granted_at: Moment::default(),
            raised_by: 0,
            hasty: false,
            proof: Proof::default(),
        }
    }

    /// Whether another is the same question about the same limit: a call may ask for several.
    pub fn is_same(&self, other: &PendingPrompt) -> bool {
        self.tool_use_id == other.tool_use_id && self.finding.is_same_limit(&other.finding)
    }
}

/// A wait for a dialog that was taken off a run's working time, until the transcript shows that a person was waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogWait {
    /// The call that waited.
    pub call: String,
    /// The run that made it.
    pub run: String,
    /// What was taken off, in milliseconds.
    pub ms: u64,
    /// When it was over.
    pub at: Moment,
    /// What is still to be shown of its answer.
    pub proof: Proof,
}

/// A Yes to a question about a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The limit.
    pub limit: String,
    /// What it is counted over.
    pub scope: Scope,
    /// The run whose call asked.
    pub run: String,
    /// When it was seen.
    pub at: Moment,
}

/// Who answered a dialog, as far as it can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnsweredBy {
    /// A person.
    Person,
    /// Nothing shows it.
    Nobody,
    /// A hook.
    Hook,
}

/// A call whose dialog's answer is no longer open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The call.
    pub call: String,
    /// Who answered.
    pub by: AnsweredBy,
}
