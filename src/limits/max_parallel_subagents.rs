//! How many subagents may work at once.

use crate::domain::limit::{Ends, Limit};
use crate::domain::limit_meter::{Meter, Stage};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::share_kind::ShareKind;

/// The limit on subagents at work at once.
pub const LIMIT: Limit = Limit {
    key: "max_parallel_subagents",
    texts: LimitTexts {
        label: "subagents at once",
        stop_reason: "parallel_subagents_reached",
        phrase: "parallel subagent limit reached",
        then: "There is room again when one of them ends.",
        ..LimitTexts::PLAIN
    },
    range: (0, 100_000),
    scopes: &[Scope::Session, Scope::User],
    meter: Meter::Count {
        used: |meters| meters.subagents_at_work,
        adds: |next| match next.stage {
            Stage::Spawn | Stage::Wake => Some(1),
            _ => next.arrives.then_some(0),
        },
    },
    ends: Ends::Call,
    shared: Some(ShareKind::Agents),
    doc: "Subagents at work at the same time in the session, or in all sessions of the `user` on this machine, at every depth, those \
          that were asked for and have not begun included. Of a batch of Agent calls as many are let through as have room. A message that would wake an agent \
          that has ended counts as a start.",
    example: "8",
    ..Limit::PLAIN
};
