//! How much of the five hours of a subscriber's plan may be used.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::plan_window::PlanSpan;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// The limit on the plan's window of five hours.
pub const LIMIT: Limit = Limit {
    key: "max_five_hour_percent",
    texts: LimitTexts {
        label: "5-hour window of the plan",
        stop_reason: "plan_window_exhausted",
        phrase: "plan's window used up",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Percent,
    range: (1, 100),
    scopes: &[Scope::User],
    meter: Meter::Count { used: |meters| meters.plan.five_hour, adds: |next| next.asks_model().then_some(1) },
    plan_window: Some(PlanSpan::FiveHours),
    shown_at_zero: false,
    doc: "Per cent of the plan's window of five hours that all sessions of the user may use together, whatever machine they run on. \
          The client tells it to its status line: it takes `fusebox init --statusline`, and counts as of the last word.",
    example: "90",
    ..Limit::PLAIN
};
