//! The figures of a run whose distribution is shown, or that limits are suggested from.

/// What the figures of runs count, for all places that show them.
pub const MEANING: &str = "Tool calls are without those that were refused, time is without pauses and waits for you, and a prompt that was \
                           blocked is no run.";

/// What is different in runs that only a transcript tells of.
pub const MEANING_UNHOOKED: &str =
    "Of runs without Fusebox's hooks a transcript tells neither refusals nor waits: there both count in.";

/// A figure of runs whose distribution is shown, or that limits are suggested from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFigure {
    /// Its tool calls.
    ToolCalls,
    /// Its working time.
    Duration,
    /// Its cost.
    Cost,
    /// Its tokens.
    Tokens,
}
