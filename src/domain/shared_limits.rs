//! The rules that bind a session over what it shares with others.

use crate::domain::limit_set::LimitSet;
use crate::domain::scope::Scope;

/// The rules over all sessions of a session's user and of its project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedLimits {
    /// The rules over all sessions of the user.
    pub user: LimitSet,
    /// The rules over all sessions of the project.
    pub project: LimitSet,
}

impl SharedLimits {
    /// Returns the rules over all sessions of the user, or else of the project.
    pub fn over(&self, scope: Scope) -> &LimitSet {
        if scope == Scope::User { &self.user } else { &self.project }
    }

    /// Whether they hold no limit and no rate.
    pub fn is_empty(&self) -> bool {
        self.user.is_empty() && self.project.is_empty()
    }
}
