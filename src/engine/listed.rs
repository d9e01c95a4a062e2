//! What the rows of sessions and runs are found by beside their ids. These columns are in indexes, so they are written only where they
//! change: an event that changes none of them touches no index.

use crate::engine::run::Run;
use crate::engine::session::{Session, Status};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// What the row of a session is found by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    /// The UTC day of its last event, in days since 1970.
    pub last_active_day: i64,
    /// Where it stands.
    pub status: Status,
}

impl ListedSession {
    /// Returns what the row of a session is to be found by.
    pub fn of(session: &Session) -> ListedSession {
        ListedSession { last_active_day: day_of(session.last.wall_ms), status: session.status }
    }
}

/// Returns the UTC day of a moment in milliseconds since 1970, in days since 1970.
pub fn day_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}

/// What the row of a run is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedRun {
    /// Its name.
    pub name: Option<String>,
    /// Its task.
    pub task: Option<String>,
}

impl ListedRun {
    /// Returns what the row of a run is to be found by.
    pub fn of(run: &Run) -> ListedRun {
        ListedRun { name: run.name.clone(), task: run.task.clone() }
    }

    /// Whether the row of a run is found by what it has now.
    pub fn is_of(&self, run: &Run) -> bool {
        self.name == run.name && self.task == run.task
    }
}
