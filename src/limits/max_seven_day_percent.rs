//! How much of the seven days of a subscriber's plan may be used.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::plan_window::PlanSpan;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// The limit on the plan's window of seven days.
pub const LIMIT: Limit = Limit {
    key: "max_seven_day_percent",
    texts: LimitTexts {
        label: "7-day window of the plan",
        stop_reason: "plan_window_exhausted",
        phrase: "plan's window used up",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Percent,
    range: (1, 100),
    scopes: &[Scope::User],
    meter: Meter::Count { used: |meters| meters.plan.seven_day, adds: |next| next.asks_model().then_some(1) },
    plan_window: Some(PlanSpan::SevenDays),
    shown_at_zero: false,
    doc: "Per cent of the plan's window of seven days that all sessions of the user may use together, whatever machine they run on. \
          The client tells it to its status line: it takes `fusebox init --statusline`, and counts as of the last word.",
    example: "90",
    ..Limit::PLAIN
};
