//! Settings that a person has accepted although they divert something.

use serde::{Deserialize, Serialize};

use crate::domain::stored::serde_default::is_default;

/// Settings that divert hooks, requests or prices and are in force all the same: hashes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsTaken {
    /// Variables and keys with their values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: Vec<u64>,
    /// Hooks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Vec<u64>,
    /// The programs of those that are called ours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub programs: Vec<u64>,
    /// Whether a person has taken it that hooks are switched off.
    #[serde(default, skip_serializing_if = "is_default")]
    pub off: bool,
    /// Whether a person has let the client go on without any of our handlers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub let_go: bool,
    /// Whether the client counts by other prices than the published ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prices: bool,
    /// The plugins whose handlers count, where the settings alone had not all: hashes of their folders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plugins: Vec<u64>,
    /// For how many seconds the client waits for the hook at a tool call, where that is longer than usual.
    #[serde(default, skip_serializing_if = "is_default")]
    pub call_timeout_s: u32,
    /// For how many seconds the client waits for the hook at the end of a batch, where that is longer than usual.
    #[serde(default, skip_serializing_if = "is_default")]
    pub batch_timeout_s: u32,
    /// The status line, where that is Fusebox's: a hash of its command.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status_line: u64,
    /// How often the client has asked whether it may take a change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asked: u32,
}

impl SettingsTaken {
    /// Returns `wait_ms` where the client is known to wait longer than usual for hooks that hold a call or a request, else 0.
    pub fn holds_for(&self, wait_ms: u64) -> u64 {
        if self.call_timeout_s > 0 && self.batch_timeout_s > 0 { wait_ms } else { 0 }
    }
}
