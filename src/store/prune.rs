//! Deletes what is old: a few rows at once, each time inside a transaction of the caller's. [`crate::upkeep::prune`] begins these.
//!
//! What is no longer referred to is found by looking at all rows. Nothing waits for that but the lock, once a day.

use rusqlite::params;

use crate::domain::session::Session;
use crate::domain::spend::charge::{Charge, DaySum};
use crate::error::Result;
use crate::store::Store;
use crate::store::value::column;

/// How many rows one transaction deletes at most. As many inserts take some milliseconds.
pub const ROWS_AT_ONCE: u64 = 128;

/// Policies that nothing is pinned to. Those of earlier versions have counted numbers: the newest stays, so that none comes twice.
const UNUSED_POLICIES: &str = "DELETE FROM policy WHERE id IS NOT (SELECT max(id) FROM policy WHERE id < 4294967296)
    AND id NOT IN (SELECT policy_id FROM session WHERE policy_id IS NOT NULL)
    AND id NOT IN (SELECT CAST(value AS INTEGER) FROM metadata WHERE key >= 'client:' AND key < 'client;')";
const UNUSED_LIMIT_SETS: &str = "DELETE FROM limit_set
    WHERE id NOT IN (SELECT limit_set_id FROM run WHERE limit_set_id IS NOT NULL
        UNION SELECT limit_set_id FROM session WHERE limit_set_id IS NOT NULL
        UNION SELECT user_limit_set_id FROM session WHERE user_limit_set_id IS NOT NULL
        UNION SELECT project_limit_set_id FROM session WHERE project_limit_set_id IS NOT NULL)";

/// What is deleted of a session that is counted again. What no transcript shows stays: its names are those of
/// [`crate::domain::spend::charge::ESTIMATES`].
const FORGET: [&str; 4] = [
    "DELETE FROM session WHERE id = ?1",
    "DELETE FROM run WHERE session_id = ?1",
    "DELETE FROM tool_call WHERE session_id = ?1",
    "DELETE FROM response WHERE session_id = ?1 AND (is_inherited OR id NOT GLOB 'unwritten:*' AND id NOT GLOB 'hidden:*')",
];

/// How much of a session goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Its calls and responses: it may be resumed, and keeps its counters, orders and grants.
    Detail,
    /// All of it.
    Whole,
}

/// What one transaction has deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Responses.
    pub responses: u64,
    /// Calls.
    pub calls: u64,
    /// Runs.
    pub runs: u64,
    /// Whether the session itself went.
    pub session: bool,
    /// Whether there is more to delete.
    pub more: bool,
}

impl Store {
    /// Prunes some rows of a session: its responses become sums of their days, and go, as do its calls.
    pub fn prune_session(&self, session: &mut Session, extent: Extent, day: impl Fn(i64) -> String) -> Result<Deleted> {
        let mut deleted = Deleted::default();
        let mut past = session.pruned.unwrap_or_default();
        past.until_ms = past.until_ms.max(session.last.wall_ms);
        for charge in self.some_charges(&session.id, ROWS_AT_ONCE)? {
            past.until_ms = past.until_ms.max(charge.at_ms);
            past.spent += charge.spend;
            if !charge.inherited {
                past.billed += charge.spend;
                self.add_sum(&sum(&session.project, &charge, day(charge.at_ms)))?;
            }
            self.delete_charge(&charge)?;
            deleted.responses += 1;
        }
        deleted.calls = self.delete_calls(&session.id, ROWS_AT_ONCE - deleted.responses)?;
        if extent == Extent::Whole {
            deleted.runs = self.delete_runs(&session.id, ROWS_AT_ONCE - deleted.responses - deleted.calls)?;
        }
        deleted.more = deleted.responses + deleted.calls + deleted.runs == ROWS_AT_ONCE;
        if !deleted.more {
            past.done_ms = session.last.wall_ms;
        }
        session.pruned = Some(past);
        self.save_session(session)?;
        if extent == Extent::Whole && !deleted.more {
            deleted.session = self.conn.execute("DELETE FROM session WHERE id = ?1", params![session.id])? > 0;
        }
        Ok(deleted)
    }

    /// Deletes what the state has of a session, but for what was charged at an estimate.
    pub fn forget_session(&self, id: &str) -> Result<()> {
        for delete in FORGET {
            self.prepare(delete)?.execute(params![id])?;
        }
        Ok(())
    }

    fn delete_runs(&self, session: &str, most: u64) -> Result<u64> {
        let delete =
            "DELETE FROM run WHERE session_id = ?1 AND id IN (SELECT id FROM run WHERE session_id = ?1 LIMIT ?2)";
        Ok(self.prepare(delete)?.execute(params![session, column(most)])? as u64)
    }

    /// Deletes policies and sets of limits that nothing refers to.
    pub fn delete_unused_policies(&self) -> Result<()> {
        self.conn.execute(UNUSED_POLICIES, [])?;
        self.conn.execute(UNUSED_LIMIT_SETS, [])?;
        Ok(())
    }

    /// Whether a project has a session.
    pub fn has_sessions(&self, project: &str) -> Result<bool> {
        let any = "SELECT 1 FROM session WHERE project = ?1 LIMIT 1";
        Ok(self.conn.prepare_cached(any)?.exists(params![project])?)
    }

    /// Returns how many bytes the database holds, the log of what is to be folded back not counted.
    pub fn size(&self) -> Result<u64> {
        let number = |pragma: &str| self.conn.query_row(pragma, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
        Ok(number("PRAGMA page_count")? * number("PRAGMA page_size")?)
    }
}

fn sum(project: &str, charge: &Charge, day: String) -> DaySum {
    DaySum { day, project: project.to_owned(), model: charge.model.clone(), spend: charge.spend }
}
