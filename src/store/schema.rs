//! The schema, as migrations that are only ever appended.
//!
//! * `session`, `run`: one row each; `state` is the JSON of [`crate::engine::session`], so that a new meter is a new field and no
//!   migration. The columns beside it are those that queries need. `run.open` marks runs that an event of another run may touch.
//! * `call`: one row for each `tool_use_id`, with the answers given, so that nothing counts twice.
//! * `charge`: one row for each response and session; a response that a fork copied has a row in both, the later one `inherited`.
//! * `record`: what the log says, for reports.
//! * `fact`: pinned policies, trust, means of first requests.
//!
//! Every table costs each hook some microseconds, because SQLite parses the schema when it opens the file: keep them few.

use rusqlite::{Connection, Result};

/// Every step from an empty database to today's; `PRAGMA user_version` counts how many have run. Never edit one: append.
pub const MIGRATIONS: [&str; 1] = ["
CREATE TABLE session (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, started_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, launcher TEXT,
  state TEXT NOT NULL);
CREATE TABLE run (
  session TEXT NOT NULL, id TEXT NOT NULL, open INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (session, id));
CREATE INDEX run_open ON run (session) WHERE open = 1;
CREATE TABLE call (
  id TEXT PRIMARY KEY, session TEXT NOT NULL, run TEXT NOT NULL, state INTEGER NOT NULL,
  wall_ms INTEGER, mono_ms INTEGER, boot INTEGER, answers TEXT) WITHOUT ROWID;
CREATE TABLE charge (
  message TEXT NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, model TEXT NOT NULL, at_ms INTEGER NOT NULL,
  tokens INTEGER NOT NULL, cache_reads INTEGER NOT NULL, output INTEGER NOT NULL, context INTEGER NOT NULL,
  cost INTEGER NOT NULL, inherited INTEGER NOT NULL, unknown_model INTEGER NOT NULL,
  PRIMARY KEY (message, session)) WITHOUT ROWID;
CREATE TABLE record (
  id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"];

/// Brings a database up to date. One that a newer version has written is left as it is.
pub fn migrate(conn: &Connection) -> Result<()> {
    let done: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let today = MIGRATIONS.len() as u32;
    if done >= today {
        return Ok(());
    }
    if done == 0 {
        conn.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    }
    conn.execute_batch("BEGIN EXCLUSIVE")?;
    let done: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for step in MIGRATIONS.iter().skip(done as usize) {
        conn.execute_batch(step)?;
    }
    conn.execute_batch(&format!("PRAGMA user_version={}; COMMIT", today.max(done)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrating_twice_is_migrating_once() -> Result<()> {
        let conn = Connection::open_in_memory()?;
        migrate(&conn)?;
        migrate(&conn)?;
        let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        assert_eq!(version as usize, MIGRATIONS.len());
        Ok(())
    }
}
