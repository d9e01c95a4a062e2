//! The verdict in the client's protocol.

use crate::engine::outcome::outcome;
use crate::hook::apply::Applied;
use crate::hook::load::Loaded;
use crate::hook::parse::HookCall;
use crate::wire::output::{self, Answer, Case};
use crate::wire::tool_input::ToolInput;

/// Words the verdict.
pub fn word(loaded: &Loaded, call: &HookCall, applied: &Applied) -> Answer {
    let outcome = outcome(&loaded.state, &applied.run, &call.event, &applied.verdict);
    let tool_input = call.input.tool_input.as_ref().map(ToolInput::json);
    let case = Case { name: call.name, event: &call.event, outcome: &outcome, tool_input };
    output::answer(&case, &applied.verdict)
}
