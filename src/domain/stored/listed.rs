//! What the rows of sessions and runs are found by beside their ids. These columns are in indexes. They are written only where they
//! change, so that an event which changes none of them touches no index.

use crate::domain::order::Status;
use crate::domain::time_units::DAY_MS;

/// What the row of a session is found by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    /// The UTC day of its last event, in days since 1970.
    pub last_active_day: i64,
    /// Where it stands.
    pub status: Status,
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
