//! Cost of the models that plan.

use crate::domain::limit::{Counts, Limit, Role};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on the cost of planning models.
pub const LIMIT: Limit = Limit {
    key: "max_planning_cost_usd",
    texts: LimitTexts {
        label: "cost of planning models",
        stop_reason: "cost_budget_exhausted",
        phrase: "planning cost budget exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    meter: Meter::Spend { used: |meters| meters.spent.cost.0, part: |spend| spend.cost.0 },
    counts: Counts::Role(Role::Planning),
    adds_up: true,
    doc: "US dollars at list price for the models that `roles.planning` names (by default `*opus*`, `*fable*` and \
          `*mythos*`).",
    example: "0.8",
    ..Limit::PLAIN
};
