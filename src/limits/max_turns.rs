//! Tool calls: each `tool_use_id` once, the client's own rejections included, Fusebox's refusals not.

use crate::domain::limit::{Alias, Limit};
use crate::domain::limit_meter::{Meter, Stage};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::run_figure::RunFigure;

/// The limit on tool calls.
pub const LIMIT: Limit = Limit {
    key: "max_turns",
    aliases: &[Alias { key: "max_tool_calls", scale: 1 }],
    texts: LimitTexts {
        label: "tool calls",
        stop_reason: "turn_limit_reached",
        phrase: "tool call limit reached",
        ..LimitTexts::PLAIN
    },
    ceiling: Some((1, 100)),
    meter: Meter::Count {
        used: |meters| meters.turns,
        adds: |next| match next.stage {
            Stage::Call | Stage::Spawn | Stage::Wake => Some(1),
            Stage::Request | Stage::Prompt => Some(0),
            Stage::Result | Stage::End => None,
        },
    },
    adds_up: true,
    bounds_session: true,
    run_figure: Some(RunFigure::ToolCalls),
    agentmd: Some("max_tool_calls"),
    doc: "Tool calls a run (or session) may make. Every call counts once, also one that fails and one that the client \
          itself rejects; a call that Fusebox refused does not. This is not the client's own `maxTurns`, which counts \
          model round trips: that is `max_requests` here.",
    example: "25",
    ..Limit::PLAIN
};
