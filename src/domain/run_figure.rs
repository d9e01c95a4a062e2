//! The figures of a run whose distribution is shown, or that limits are suggested from.

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
