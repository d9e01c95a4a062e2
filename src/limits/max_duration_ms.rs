//! Working time: an agent's stretches at work, without pauses and without waits for a person.

use crate::domain::limit::Limit;
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::run_figure::RunFigure;
use crate::domain::time_units::{HOUR_MS, YEAR_MS};
use crate::domain::unit::Unit;

/// The limit on working time.
pub const LIMIT: Limit = Limit {
    key: "max_duration_ms",
    texts: LimitTexts {
        label: "working time",
        stop_reason: "timeout",
        phrase: "time limit reached",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Millis,
    range: (100, YEAR_MS.cast_unsigned()),
    ceiling: Some((1_000, HOUR_MS.cast_unsigned())),
    meter: Meter::Count { used: |meters| meters.duration_ms, adds: |_| Some(1) },
    adds_up: true,
    bounds_session: true,
    run_figure: Some(RunFigure::Duration),
    doc: "Milliseconds of working time. A subagent's clock runs from its start to its end, over all its stretches; the \
          main agent's from a prompt to the end of its turn. Pauses and waits for a permission dialog do not count. A \
          Bash call's `timeout` is cut to what is left; a call of an MCP server's tool is not, whatever its input names. \
          For a session: the sum of its main runs.",
    example: "600000",
    ..Limit::PLAIN
};
