//! Records of the log: what an event says that it was, and who and what it is about.

use serde::{Deserialize, Serialize};

use crate::domain::limit::{Ends, Limit};

/// The names of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RecordKind {
    /// A limit ended a run.
    AgentFailed,
    /// A limit or a person paused a run.
    AgentPaused,
    /// A limit warned, early or at its cap.
    AgentWarning,
    /// A person let a run go on.
    AgentResumed,
    /// A person gave more.
    LimitGranted,
    /// A person is asked in a dialog for more.
    IncreaseAsked,
    /// A dialog grants nothing: it was answered with No or left with Esc, or no person has answered it.
    IncreaseDeclined,
    /// A dialog grants nothing: a person has stopped its agent while it was open.
    IncreaseWithdrawn,
    /// A run's client died.
    AgentOrphaned,
    /// A person ended a run.
    AgentStopped,
    /// A cap follows what finished runs needed.
    LimitAdapted,
    /// Something about the installation, the input or the state that a person should know.
    Notice,
}

impl RecordKind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            RecordKind::AgentFailed => "AGENT_FAILED",
            RecordKind::AgentPaused => "AGENT_PAUSED",
            RecordKind::AgentWarning => "AGENT_WARNING",
            RecordKind::AgentResumed => "AGENT_RESUMED",
            RecordKind::LimitGranted => "LIMIT_GRANTED",
            RecordKind::IncreaseAsked => "INCREASE_ASKED",
            RecordKind::IncreaseDeclined => "INCREASE_DECLINED",
            RecordKind::IncreaseWithdrawn => "INCREASE_WITHDRAWN",
            RecordKind::AgentOrphaned => "AGENT_ORPHANED",
            RecordKind::AgentStopped => "AGENT_STOPPED",
            RecordKind::LimitAdapted => "LIMIT_ADAPTED",
            RecordKind::Notice => "NOTICE",
        }
    }
}

/// What a limit did that ended no run: what a record of [`RecordKind::AgentWarning`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// It warned before its cap was reached.
    Early,
    /// It refused a call alone, or would have where the record has a mode.
    CallRefused,
    /// It warned at its cap: that is all it does.
    AtCap,
    /// Nothing: the record's mode says why.
    Unenforced,
    /// A prompt was not sent, or a turn that had ended was not prolonged.
    KeptBack,
}

/// Why a dialog has granted nothing that was answered with Yes before anybody can have read it.
pub const TOO_SOON: &str = "a Yes within a second";

/// The reason of a grant that no dialog asked for.
pub const BY_COMMAND: &str = "a command";

/// One record of the log. The first eight fields are the public ones of a record's line; the others are added to them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// One sentence: `Agent exceeded max_turns limit`.
    pub error: String,
    /// The task, else the run.
    #[serde(rename = "taskId")]
    pub task_id: String,
    /// The agent's type.
    #[serde(rename = "agentType")]
    pub agent_type: String,
    /// Tool calls, the tripping attempt included.
    pub turns: u64,
    /// The run's cap on tool calls, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// Working time in milliseconds.
    pub elapsed_ms: u64,
    /// Cost so far in US dollars.
    pub accumulated_cost_usd: f64,
    /// `paused` in a paused record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The reason of a pause, of a Yes that grants nothing, or of a grant that no dialog asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How to go on from a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// When, RFC 3339; filled when written.
    pub at: String,
    /// The record's name.
    pub event: Option<RecordKind>,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// The limit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub limit: String,
    /// What it is counted over.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// What it did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub action: String,
    /// What was used, in configuration's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
    /// What requests under way and the next ones were taken for by the estimate, in configuration's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<f64>,
    /// How many requests that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_ahead: Option<u64>,
    /// The cap, in configuration's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
    /// Whose rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub layer: String,
    /// Who raised a cap by a command, as far as that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Machine-readable reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stop_reason: String,
    /// Per cent of an early warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// What it is about where the limit does not say: the tools of a rate, what repeats.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// When it passes by itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub frees: String,
    /// The rule of the alert that it tells of.
    #[cfg(feature = "watch")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub alert: String,
    /// What tells that alert's cause from others.
    #[cfg(feature = "watch")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// `observe` where nothing was blocked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mode: String,
}

impl Record {
    /// Makes a notice: what happened to a session that no limit brought about.
    pub fn notice(session: &str, what: impl Into<String>) -> Record {
        Record { error: what.into(), event: Some(RecordKind::Notice), session: session.to_owned(), ..Record::default() }
    }

    /// Returns what a limit did that ended no run; `None` of a record of another kind.
    pub fn warning(&self) -> Option<Warning> {
        let refuses = || Limit::find(&self.limit).is_some_and(|limit| limit.ends == Ends::Call);
        Some(match self.action.as_str() {
            _ if self.event != Some(RecordKind::AgentWarning) => return None,
            _ if self.percent.is_some() => Warning::Early,
            "terminate" if refuses() => Warning::CallRefused,
            _ if !self.mode.is_empty() => Warning::Unenforced,
            "warn" => Warning::AtCap,
            _ => Warning::KeptBack,
        })
    }
}
