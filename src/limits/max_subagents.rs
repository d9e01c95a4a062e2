//! How many subagents a session may start in all.

use crate::domain::limit::{Ends, Limit, Meter, Stage};
use crate::domain::policy::Scope;

/// The limit on subagents in all.
pub const LIMIT: Limit = Limit {
    key: "max_subagents",
    label: "subagents",
    range: (0, 1_000_000),
    scopes: &[Scope::Session],
    stop_reason: "subagent_limit_reached",
    phrase: "subagent limit reached",
    meter: Meter::Step {
        used: |meters| meters.subagents,
        adds: |next| match next.stage {
            Stage::Spawn => Some(1),
            Stage::Arrival => Some(0),
            _ => None,
        },
    },
    ends: Ends::Call,
    then: "This agent can do the work itself, or send a message to one that it has.",
    doc: "Subagents that a session may start in all, at every depth. A start that was refused or failed does not count.",
    example: "40",
    ..Limit::PLAIN
};
