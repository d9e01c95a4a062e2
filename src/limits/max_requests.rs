//! Model round trips: distinct `message.id`.

use crate::domain::limit::{Alias, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;

/// The limit on model requests.
pub const LIMIT: Limit = Limit {
    key: "max_requests",
    aliases: &[Alias { key: "maxTurns", scale: 1 }],
    texts: LimitTexts {
        label: "model requests",
        stop_reason: "request_limit_reached",
        phrase: "request limit reached",
        ..LimitTexts::PLAIN
    },
    meter: Meter::Spend { used: |meters| meters.spent.requests, part: |spend| spend.requests },
    adds_up: true,
    bounds_session: true,
    doc: "Model round trips (responses of the model) a run (or session) may use, its final report included. What no \
          transcript shows counts too: hooks that ask the model, web searches, compactions. The client calls this \
          `maxTurns` in an agent's frontmatter, which Fusebox reads too: what is set there counts the agent's responses \
          alone, as the client does.",
    example: "40",
    ..Limit::PLAIN
};
