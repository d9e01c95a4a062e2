//! Time without a sign of life: the watchdog decides it, since an agent that hangs sends no event.

use crate::domain::action::Action;
use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::time_units::YEAR_MS;
use crate::domain::unit::Unit;

/// The limit on time without a sign of life.
pub const LIMIT: Limit = Limit {
    key: "stall_after_ms",
    texts: LimitTexts {
        label: "time without a sign of life",
        stop_reason: "stalled",
        phrase: "no sign of life",
        did: Some(|used| format!("gave no sign of life for {used}")),
        advice: Some("`fusebox status` names the call that an agent is in."),
        ..LimitTexts::PLAIN
    },
    unit: Unit::Millis,
    range: (1_000, YEAR_MS.cast_unsigned()),
    scopes: &[Scope::Run],
    meter: Meter::Silence,
    action: Some(Action::Warn),
    shown_at_zero: false,
    doc: "Milliseconds without a sign of life: no event, and no growth of the run's transcript or of its file of `checkpoints`. \
          A shell command whose process lives, an open dialog and a subagent at work are signs of life. No hook decides it, since \
          an agent that hangs sends none: `fusebox watch` does, and records it as a warning. With `watchdog.kill` it ends the \
          client. The time that the machine sleeps does not count.",
    example: "600000",
    ..Limit::PLAIN
};
