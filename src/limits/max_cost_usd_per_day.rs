//! Cost over all sessions of a day.

use crate::domain::limit::{Limit, Span};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on the cost of a day.
pub const LIMIT: Limit = Limit {
    key: "max_cost_usd_per_day",
    texts: LimitTexts {
        label: "cost of the day",
        short_label: Some("cost"),
        stop_reason: "cost_budget_exhausted",
        phrase: "cost budget of the day exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    scopes: &[Scope::User, Scope::Project],
    meter: Meter::Spend { used: |meters| meters.periods.day.cost.0, part: |spend| spend.cost.0 },
    period: Some(Span::Day),
    doc: "US dollars at list price since midnight in `time_zone`, over all sessions of the user on this machine (in `user`) or of \
          the repository and its worktrees (in `project`). Each response counts once, for the session that was billed.",
    example: "25",
    ..Limit::PLAIN
};
