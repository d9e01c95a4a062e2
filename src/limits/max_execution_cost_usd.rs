//! Cost of the models that do not plan.

use crate::domain::limit::{Counts, Limit, Role};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on the cost of execution models.
pub const LIMIT: Limit = Limit {
    key: "max_execution_cost_usd",
    texts: LimitTexts {
        label: "cost of execution models",
        stop_reason: "cost_budget_exhausted",
        phrase: "execution cost budget exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    meter: Meter::Spend { used: |meters| meters.spent.cost.0, part: |spend| spend.cost.0 },
    counts: Counts::Role(Role::Execution),
    adds_up: true,
    doc: "US dollars at list price for all models that `roles.planning` does not name.",
    example: "0.2",
    ..Limit::PLAIN
};
