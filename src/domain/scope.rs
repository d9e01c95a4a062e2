//! What a limit is counted over.

use serde::{Deserialize, Serialize};

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One agent at work.
    #[default]
    Run,
    /// All runs of one session.
    Session,
    /// All runs of the session whose agent started this one's client.
    Outer,
    /// All sessions of one repository and its worktrees.
    Project,
    /// All sessions of the user on this machine.
    User,
    /// All sessions on this machine of those that take part in a team.
    Team,
}

impl Scope {
    /// Returns the scope's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Run => "run",
            Scope::Session => "session",
            Scope::Outer => "outer session",
            Scope::Project => "project",
            Scope::User => "user",
            Scope::Team => "team",
        }
    }

    /// Returns the words for what a limit is counted over, where that is more than the run.
    pub fn over(self) -> &'static str {
        match self {
            Scope::Run => "",
            Scope::Session => " of the whole session",
            Scope::Outer => " of the session that started this one",
            Scope::Project => " of all sessions of this repository",
            Scope::User => " of all sessions of this user",
            Scope::Team => " of the team on this machine",
        }
    }
}
