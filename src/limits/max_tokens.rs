//! Tokens over all requests: input, cache writes and output; cache reads too where configured.

use crate::domain::limit::{Alias, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::run_figure::RunFigure;
use crate::domain::unit::Unit;

/// The limit on tokens.
pub const LIMIT: Limit = Limit {
    key: "max_tokens",
    aliases: &[Alias { key: "max_execution_tokens", scale: 1 }],
    texts: LimitTexts {
        label: "tokens",
        stop_reason: "token_budget_exhausted",
        phrase: "token budget exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Tokens,
    range: (1, 1_000_000_000_000),
    meter: Meter::Spend { used: |meters| meters.spent.tokens, part: |spend| spend.tokens },
    adds_up: true,
    bounds_session: true,
    run_figure: Some(RunFigure::Tokens),
    agentmd: Some("max_execution_tokens"),
    doc: "Input, cache-write and output tokens over all requests; cache reads too with `count_cache_reads: true`.",
    example: "200000",
    ..Limit::PLAIN
};
