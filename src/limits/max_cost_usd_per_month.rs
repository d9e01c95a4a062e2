//! Cost over all sessions of a month.

use crate::domain::limit::{Limit, Span};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on the cost of a month.
pub const LIMIT: Limit = Limit {
    key: "max_cost_usd_per_month",
    texts: LimitTexts {
        label: "cost of the month",
        short_label: Some("cost"),
        stop_reason: "cost_budget_exhausted",
        phrase: "cost budget of the month exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    scopes: &[Scope::User, Scope::Project],
    meter: Meter::Spend { used: |meters| meters.periods.month.cost.0, part: |spend| spend.cost.0 },
    period: Some(Span::Month),
    doc: "US dollars at list price since the first of the month in `time_zone`, over all sessions of the user on this machine (in `user`) or of \
          the repository and its worktrees (in `project`). Each response counts once, for the session that was billed.",
    example: "25",
    ..Limit::PLAIN
};
