//! The figures of a run whose distribution is shown.

/// A figure of runs whose distribution is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFigure {
    /// Its tool calls.
    ToolCalls,
    /// Its working time.
    Duration,
    /// Its cost.
    Cost,
}
