//! Completion tokens of one request.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// The limit on the completion of one request.
pub const LIMIT: Limit = Limit {
    key: "max_tokens_per_turn",
    texts: LimitTexts {
        label: "completion tokens of one request",
        stop_reason: "token_budget_exhausted",
        phrase: "token budget of one turn exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Tokens,
    range: (1, 1_000_000_000),
    scopes: &[Scope::Run],
    meter: Meter::Count { used: |meters| meters.completion, adds: |_| Some(0) },
    doc: "Completion (output) tokens of the run's largest response. It is known once the response is there, so the limit \
          acts at the event after it.",
    example: "8000",
    ..Limit::PLAIN
};
