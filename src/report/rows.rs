//! What reports are made of: the rows of each session, as the store has them.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::budget::SharedBudget;
use crate::domain::moment::Moment;
use crate::domain::record::Record;
use crate::domain::session::{Run, Session};
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;

/// A record with its number, by which `fusebox explain` finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logged {
    /// Its number, counted over all sessions.
    pub number: i64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The record.
    pub record: Record,
}

/// Everything that is known of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRows {
    /// The session.
    pub session: Session,
    /// Its runs, the oldest first.
    pub runs: Vec<Run>,
    /// What its responses cost, the oldest first.
    pub charges: Vec<Charge>,
    /// What its log says, the oldest first.
    pub records: Vec<Logged>,
    /// Tool calls counted for each run, whatever counters were set back to since.
    pub calls: BTreeMap<String, u64>,
    /// The runs whose turn a person has left with Esc or No.
    pub left: BTreeSet<String>,
    /// The process ids of the clients at work of which no hook tells.
    pub silent_at_work: BTreeSet<u32>,
    /// Whether this machine has left the team that the session began in.
    pub has_left_team: bool,
}

/// What a story is told from.
#[derive(Clone, Copy, Debug)]
pub struct TimelineSource<'a> {
    /// The session.
    pub rows: &'a SessionRows,
    /// Runs of the same agent type in any session, for comparison.
    pub peers: &'a [Run],
    /// What sessions share.
    pub budgets: &'a [SharedBudget],
    /// The moment it is told at.
    pub now: Moment,
    /// Whether this machine takes part in the session's team.
    pub is_in_team: bool,
    /// The folder that commands are typed in.
    pub here: &'a str,
}

/// Returns the folder of a project.
pub fn project(id: &str) -> &str {
    id.strip_suffix("/.git").unwrap_or(id)
}

/// Sums what responses spent.
pub fn sum<'a>(charges: impl Iterator<Item = &'a Charge>) -> Spend {
    charges.map(|charge| charge.spend).sum()
}
