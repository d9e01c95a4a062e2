//! The status of a run or session, and an order to end it.

use serde::{Deserialize, Serialize};

use crate::domain::action::Action;
use crate::domain::moment::Moment;
use crate::domain::process::Process;
use crate::domain::stored::serde_default::is_default;
use crate::domain::verdict::Finding;

/// The status of a run or session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At work.
    #[default]
    Running,
    /// Ended by itself.
    Completed,
    /// Ended by a limit.
    Failed,
    /// Paused until a person resumes it.
    Paused,
    /// Ended by a person or a tool.
    Stopped,
    /// Its client died.
    Orphaned,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 6] =
        [Status::Running, Status::Completed, Status::Failed, Status::Paused, Status::Stopped, Status::Orphaned];

    /// Returns what people read.
    pub fn word(self) -> &'static str {
        if self == Status::Failed { "ended by limit" } else { self.as_str() }
    }

    /// Returns what was done to an agent that did not come to its end by itself: in a sentence, and in the labels of metrics.
    pub fn deed(self) -> &'static str {
        if self == Status::Failed { "stopped" } else { self.as_str() }
    }

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Paused => "paused",
            Status::Stopped => "stopped",
            Status::Orphaned => "orphaned",
        }
    }
}

/// How far an order to end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Calls of the response that tripped are refused; the next response is the report.
    Refusing,
    /// The agent reports; finalize tools may run.
    Reporting,
    /// Over: every event ends the agent's loop.
    Halted,
}

/// An order to end, standing until it is carried out or lifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Why.
    pub finding: Finding,
    /// How far it has come.
    pub phase: Phase,
    /// Model responses left to report.
    pub grace_left: u32,
    /// Calls of finalize tools that have run in the report.
    #[serde(default, skip_serializing_if = "is_default")]
    pub report_calls: u32,
    /// Why, in the words of whoever asked for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
    /// How the next call or request is held, where one was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hold: Option<Hold>,
    /// The hooks that hold it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holders: Vec<Process>,
}

/// How the next call or request of a paused run is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Since when; a later call of the same pause is held no longer than the first.
    pub since: Moment,
    /// Whether a request was held, and no call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_of_request: bool,
    /// Whether nothing is held any more.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_over: bool,
}

impl Order {
    /// Returns an order that is in force at the next event: nothing runs any more.
    pub fn halted(finding: Finding, reason: Option<String>) -> Order {
        Order { finding, phase: Phase::Halted, grace_left: 0, report_calls: 0, reason, hold: None, holders: Vec::new() }
    }

    /// Returns for how many milliseconds the next call or request may still be held, where a pause holds one for `wait_ms`.
    pub fn hold_left_ms(&self, now: Moment, wait_ms: u64) -> u64 {
        let pauses = self.phase == Phase::Halted && self.finding.action == Action::Pause;
        match self.hold {
            _ if !pauses => 0,
            Some(hold) if hold.is_over => 0,
            Some(hold) => wait_ms.saturating_sub(now.since(hold.since)),
            None => wait_ms,
        }
    }

    /// Whether a call or request was held, and all that held it are gone.
    pub fn is_abandoned(&self, is_gone: impl Fn(&Process) -> bool) -> bool {
        self.is_holding() && !self.holders.is_empty() && self.holders.iter().all(is_gone)
    }

    /// Whether a call or request is held now.
    pub fn is_holding(&self) -> bool {
        self.hold.is_some_and(|hold| !hold.is_over)
    }
}
