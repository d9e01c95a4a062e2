//! How deep agents may start agents.

use crate::domain::limit::{Ends, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;

/// The limit on the depth of subagents.
pub const LIMIT: Limit = Limit {
    key: "max_delegation_depth",
    texts: LimitTexts {
        label: "depth of subagents",
        stop_reason: "delegation_depth_reached",
        phrase: "delegation depth limit reached",
        then: "This agent can do the work itself.",
        ..LimitTexts::PLAIN
    },
    range: (0, 1_000),
    scopes: &[Scope::Session],
    meter: Meter::Count { used: |meters| meters.depth, adds: |next| next.starts() },
    ends: Ends::Call,
    doc: "Depth of the agent that a call would start: the main agent is at 0, its subagents at 1. 0 forbids subagents. \
          The Agent call that would go deeper is refused; an agent that comes another way (a workflow, a skill) is \
          stopped at its first call, and has answered by then where it answers in words alone. A Workflow call, and that \
          of a skill with `context: fork`, is refused where its agents would be too deep.",
    example: "2",
    ..Limit::PLAIN
};
