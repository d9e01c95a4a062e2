//! Wall time since a run or session began, waits included.

use crate::domain::limit::{Alias, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::time_units::YEAR_MS;
use crate::domain::unit::Unit;

/// The limit on wall time.
pub const LIMIT: Limit = Limit {
    key: "max_wall_ms",
    aliases: &[Alias { key: "timeout", scale: 1000 }, Alias { key: "max_duration", scale: 1000 }],
    texts: LimitTexts { label: "wall time", stop_reason: "timeout", phrase: "time limit reached", ..LimitTexts::PLAIN },
    unit: Unit::Millis,
    range: (100, YEAR_MS.cast_unsigned()),
    meter: Meter::Count { used: |meters| meters.wall_ms, adds: |_| Some(1) },
    adds_up: true,
    bounds_session: true,
    agentmd: Some("timeout"),
    doc: "Milliseconds since the run (or session) began, waits and pauses included. The aliases `timeout` and \
          `max_duration` are in seconds.",
    example: "1800000",
    ..Limit::PLAIN
};
