//! An alert: what is told, why, and how often.

use serde::Serialize;

use crate::domain::text::rfc3339;
use crate::domain::verdict::Finding;
use crate::ui::terminal;

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// What the watchdog does beside telling, where a limit is the cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The limit that has no hook to act for it.
    pub finding: Finding,
    /// Whether other agents of the client give signs of life, so that it is not ended for one that hangs.
    pub others_live: bool,
    /// The last event that was known of what the limit is on, in milliseconds since 1970: what has sent one since is not held.
    pub last_ms: i64,
}

/// One alert.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Alert {
    /// The rule's name.
    pub rule: String,
    /// What tells this cause from others: each is told once.
    pub cause: String,
    /// Whether it is told again where it goes on.
    #[serde(skip)]
    pub recurs: bool,
    /// One sentence.
    pub text: String,
    /// The session; empty where it is about all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    /// The run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The agent's type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent_type: String,
    /// The project's folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The limit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub limit: String,
    /// What is used of it, or measured, in configuration's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
    /// The limit's cap, or what the rule says, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
    /// The command that tells more.
    pub next: String,
    /// What the watchdog does beside.
    #[serde(skip)]
    pub hold: Option<Hold>,
}

impl Alert {
    /// Returns the one line of JSON that a command gets.
    pub fn json(&self, at_ms: i64) -> String {
        #[derive(Serialize)]
        struct Dated<'a> {
            version: u32,
            at: String,
            #[serde(flatten)]
            alert: &'a Alert,
        }
        let dated = Dated { version: VERSION, at: rfc3339::format(at_ms), alert: self };
        // What a terminal obeys is written as JSON escapes it, and means the same.
        terminal::safe(&serde_json::to_string(&dated).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_in_its_json() {
        let agent_type = "dev\u{9b}2J\u{202e}\u{7f}".to_owned();
        let json = Alert { agent_type: agent_type.clone(), ..Alert::default() }.json(0);
        assert!(!json.chars().any(terminal::is_unseen), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["agent_type"], agent_type);
    }
}
