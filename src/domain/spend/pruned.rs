//! What is left of a session's detail once that is pruned.

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;

/// What was pruned of a session that may yet be resumed: its counters stay, its responses are no longer known one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Every response until then was counted, in milliseconds since 1970.
    pub until_ms: i64,
    /// The session's last event when all of it was pruned.
    pub done_ms: i64,
    /// What they spent.
    pub spent: Spend,
    /// What of it the session billed itself; the rest was copied by a fork or resume.
    pub billed: Spend,
}
