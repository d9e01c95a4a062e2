//! A cap that a spawn asked for and that was lowered to what its parent has left.

use crate::domain::scope::Scope;

/// A cap that a spawn asked for and that was lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClampedCap {
    /// The spawned run.
    pub run: String,
    /// Which limit.
    pub limit: String,
    /// What the spawn asked for, in the limit's base unit.
    pub asked: u64,
    /// What it got.
    pub got: u64,
    /// Whose remaining budget that is: the parent run's, or the session's.
    pub scope: Scope,
}
