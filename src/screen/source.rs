//! What a view of the screen is made from.

use crate::domain::budget::SharedBudget;
use crate::domain::moment::Moment;
use crate::domain::spend::charge::DaySum;
use crate::report::doing::LatestCalls;
use crate::report::model::Report;
use crate::report::rows::SessionRows;
use crate::ui::style::Terminal;

/// What a view is made from.
#[derive(Clone, Copy, Debug)]
pub struct ViewSource<'a> {
    /// The rows of the sessions.
    pub rows: &'a [SessionRows],
    /// What sessions share.
    pub budgets: &'a [SharedBudget],
    /// The latest call of each run.
    pub calls: &'a LatestCalls,
    /// The report of the sessions that are shown.
    pub report: &'a Report,
    /// The sums of pruned days.
    pub pruned: &'a [DaySum],
    /// Now.
    pub now: Moment,
    /// The zone of days, and how the reader pays.
    pub page: &'a Terminal,
}
