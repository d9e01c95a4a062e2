//! The schema, as migrations that are only ever appended, and the names of entries.
//!
//! There is one table: entries by name, with JSON bodies in SQLite's binary form (`jsonb`; earlier versions wrote texts). SQLite
//! parses the whole schema each time a hook opens the file, and compiles each statement anew: every table, index and constraint
//! costs a call thousands of instructions, so that one plain table with two statements is what a process can afford that lives
//! for half a millisecond. A new meter is a new field of a body with a default, and no migration.
//!
//! An entry's `id` is made from its name ([`crate::store::entries::id_of`]): one lookup instead of an index and a table, and a
//! session's entries stand together. Query it by name all the same:
//! `SELECT json(body) FROM entry WHERE name = 's/SESSION'`.
//!
//! | name | body |
//! |---|---|
//! | `s/SESSION` | [`crate::domain::session::Session`], with its main run at work |
//! | `s/SESSION/a/RUN` | any other [`crate::domain::session::Run`], with the calls of its batch in flight |
//! | `s/SESSION/c/CALL` | a call whose batch is over: its run and [`crate::engine::session_state::CallRecord`] |
//! | `s/SESSION/n/HASH` | an agent's name, by its hash, once its run is not open any more: the run's id |
//! | `s/SESSION/m/MESSAGE` | what the session was charged for a response: [`crate::domain::charge::Charge`] |
//! | `x/fact/NAME` | a pinned policy, a trusted project, a client's policy and session, a mean of first requests |
//! | `x/log/NUMBER` | a moment and a [`crate::domain::charge::Record`] |
//! | `x/pool/SCOPE:ID` | what the sessions of the user or of a project share: [`crate::domain::budget::SharedBudget`] |
//! | `x/run/RUN/SESSION` | nothing: finds a run by the beginning of its id |
//! | `x/sum/DAY` | what was billed on a day, by project and model, in sessions whose detail is pruned |
//! | `x/session/STARTED/SESSION` | the `fusebox run` that started it, or nothing: lists sessions by age |

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};

/// Every step from an empty database to today's; `PRAGMA user_version` counts how many have run. Never edit one: append.
///
/// A step that older binaries can live with leaves the table and its three columns as they are. One that they cannot live with
/// gives the table another name: then their first statement fails, and they say that the state is too new for them.
pub const MIGRATIONS: [&str; 1] = ["CREATE TABLE entry (id INTEGER PRIMARY KEY, name, body)"];

/// Bytes of a page. Most events write one entry, of a session with its main run: some two thousand bytes under every limit. What
/// does not fit goes to pages of its own, which are given back and taken anew at each write: four frames more.
pub const PAGE: u64 = 4096;

/// Brings a database up to date, where its table is not there. One that a newer version has written is left as it is.
pub fn migrate(conn: &Connection) -> Result<()> {
    conn.execute_batch(&format!("PRAGMA page_size={PAGE}"))?;
    conn.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    conn.execute_batch("BEGIN EXCLUSIVE")?;
    let done: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if done as usize > MIGRATIONS.len() {
        let what = format!(
            "a newer version of fusebox has written the state (schema {done}, known here: {})",
            MIGRATIONS.len()
        );
        let path = conn.path().unwrap_or("state.db");
        return Err(Error::failed(what).of_kind(ErrorKind::TooNew).hint(format!(
            "install that version again; where none was, move `{path}` away, and what sessions spent is counted again"
        )));
    }
    for step in MIGRATIONS.iter().skip(done as usize) {
        conn.execute_batch(step)?;
    }
    conn.execute_batch(&format!("PRAGMA user_version={}; COMMIT", MIGRATIONS.len()))?;
    Ok(())
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
