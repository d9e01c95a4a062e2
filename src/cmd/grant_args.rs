//! What `fusebox grant` gives: more of which limits.

use crate::domain::limit::Limit;

/// More of one limit.
#[derive(Clone, Debug, PartialEq)]
pub struct More {
    /// The limit.
    pub limit: &'static Limit,
    /// The name of the rule that is raised: the limit's key, or that of some models.
    pub rule: String,
    /// How much.
    pub to: To,
}

/// How a new cap is given, in the limit's base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// So much on top of what it is.
    Added(u64),
    /// The new cap itself.
    Cap(u64),
}
