//! Repetition: the same error, the same call with the same result, or the same few calls again and again.

use crate::engine::policy::{Action, Scope};
use crate::limits::{Limit, Meter, Stage, Unit};

/// The limit on repetition.
pub const LIMIT: Limit = Limit {
    key: "loop_detection",
    label: "repetition",
    unit: Unit::Switch,
    range: (0, 1),
    scopes: &[Scope::Run],
    stop_reason: "loop_detected",
    phrase: "loop detected",
    meter: Meter::Step {
        used: |meters| meters.repetition,
        adds: |stage| match stage {
            Stage::Call | Stage::Spawn | Stage::Wake | Stage::Arrival | Stage::Request => Some(0),
            Stage::Prompt | Stage::Result | Stage::End => None,
        },
    },
    action: Some(Action::Terminate),
    doc: "Ends a run that repeats itself: the last 3 tool errors identical (same tool, same error, nothing new in \
          between), an identical call with an identical result 5 times in a row, or a cycle of 2 to 5 calls 3 times in a \
          row. A result that differs is progress. A shell command that sleeps a second or more is a poll, and no \
          repetition where it ends well; from ten seconds on, not where it fails, either. The agent is told first; the limit acts when the repetition goes on. \
          `timeout_action` does not change what it does, `actions` does.",
    example: "false",
    ..Limit::PLAIN
};
