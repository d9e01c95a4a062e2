//! Model round trips: distinct `message.id`.

use crate::engine::policy::Scope;
use crate::limits::{Alias, Limit, Meter, Unit};

/// The limit on model requests.
pub const LIMIT: Limit = Limit {
    key: "max_requests",
    aliases: &[Alias { key: "maxTurns", scale: 1 }],
    label: "model requests",
    unit: Unit::Count,
    range: (1, 1_000_000),
    ceiling: None,
    scopes: &[Scope::Run, Scope::Session],
    stop_reason: "request_limit_reached",
    phrase: "request limit reached",
    meter: Meter::Spend(|spend| spend.requests),
    doc: "Model round trips (responses of the model) a run (or session) may use, its final report included. The client \
          calls this `maxTurns` in an agent's frontmatter, which Fusebox reads too.",
    example: "40",
};
