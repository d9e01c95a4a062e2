//! What the machines of a team share besides money.

use serde::{Deserialize, Serialize};

/// What a limit is on that the machines of a team share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareKind {
    /// Subagents at work at once.
    #[default]
    Agents,
    /// Model requests in a window of time, for each model.
    Requests,
}

impl ShareKind {
    /// Every kind.
    pub const ALL: [ShareKind; 2] = [ShareKind::Agents, ShareKind::Requests];

    /// Returns its name in the store and in commands.
    pub fn as_str(self) -> &'static str {
        match self {
            ShareKind::Agents => "agents",
            ShareKind::Requests => "requests",
        }
    }

    /// Returns what a name stands for.
    pub fn named(name: &str) -> Option<ShareKind> {
        ShareKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
