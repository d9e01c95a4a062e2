//! How many subagents a session may start in all.

use crate::domain::limit::{Ends, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;

/// The limit on subagents in all.
pub const LIMIT: Limit = Limit {
    key: "max_subagents",
    texts: LimitTexts {
        label: "subagents",
        stop_reason: "subagent_limit_reached",
        phrase: "subagent limit reached",
        then: "This agent can do the work itself, or send a message to one that it has.",
        ..LimitTexts::PLAIN
    },
    range: (0, 1_000_000),
    scopes: &[Scope::Session],
    meter: Meter::Count { used: |meters| meters.subagents, adds: |next| next.starts() },
    ends: Ends::Call,
    doc: "Subagents that a session may start in all, at every depth. A start that was refused or failed does not count. \
          Agents of a workflow or of a skill come without a call of their own: a Workflow call, and that of a skill with \
          `context: fork`, is refused where no room is left, and an agent beyond the cap is stopped at its first call. One that answers in words alone has answered by then.",
    example: "40",
    ..Limit::PLAIN
};
