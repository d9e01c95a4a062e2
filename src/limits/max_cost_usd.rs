//! List-price cost of every response.

use crate::domain::limit::{Alias, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::run_figure::RunFigure;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on cost.
pub const LIMIT: Limit = Limit {
    key: "max_cost_usd",
    aliases: &[Alias { key: "max_total_cost_usd", scale: 1 }],
    texts: LimitTexts {
        label: "cost",
        stop_reason: "cost_budget_exhausted",
        phrase: "cost budget exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    ceiling: Some((PICO / 100, 100 * PICO)),
    meter: Meter::Spend { used: |meters| meters.spent.cost.0, part: |spend| spend.cost.0 },
    adds_up: true,
    bounds_session: true,
    run_figure: Some(RunFigure::Cost),
    agentmd: Some("max_cost_usd"),
    doc: "US dollars at list price, each response at the price of its own time. The next request is estimated before it \
          is made, so the cap is kept and not passed. A session's cost counts the main agent and all subagents. \
          A response that is in no transcript two batches later counts as an average one of its run, and where none ever was (as \
          with `--no-session-persistence`) as a first request: 12,500 tokens of prompt and 500 of answer, at the price of the \
          session's model, else of the client's default. The user is told.",
    example: "1.0",
    ..Limit::PLAIN
};
