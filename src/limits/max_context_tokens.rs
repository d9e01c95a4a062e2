//! Prompt tokens of one request.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// The limit on the prompt of one request.
pub const LIMIT: Limit = Limit {
    key: "max_context_tokens",
    texts: LimitTexts {
        label: "prompt tokens of one request",
        stop_reason: "token_budget_exhausted",
        phrase: "context limit reached",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Tokens,
    range: (1, 1_000_000_000),
    scopes: &[Scope::Run],
    meter: Meter::Count { used: |meters| meters.prompt, adds: |_| Some(0) },
    doc: "Prompt tokens of the run's last request: input, cache writes and cache reads. It is known once the response is \
          there, so the limit acts at the event after it.",
    example: "150000",
    ..Limit::PLAIN
};
