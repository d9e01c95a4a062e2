//! The schema, as migrations that are only ever appended. `docs/state.md` explains each column.
//!
//! Columns hold what people and reports ask for. `engine` holds the rest of a row as JSON: what only the engine reads. A new field of
//! that JSON has a default and needs no migration. A few columns are sums of what the JSON has in detail. `parent_session_id`,
//! `output_tokens` and `cache_creation_tokens` repeat a field of it for people: Fusebox writes them and reads the field.
//!
//! SQLite parses the whole schema each time a hook opens the file. So there are no more tables, columns and indexes than are used.
//! There is no `REFERENCES`: the bundled SQLite would look each one up at every write.

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};
use crate::store::sealed_metadata;

/// Every migration from an empty database to today's. Never edit one that a release has written: append one.
///
/// A new column stays out of the seal of its rows, which is over columns by their positions (`store/seal.rs`): it is selected
/// behind those that `ColumnsHash::of_row` hashes, and is none of the values of `ColumnsHash::of_values`. Versions of one form read
/// each other's rows, and one that hashes another number of columns takes every row for altered. A column that has to be sealed
/// begins a new form. A new field of `engine` is sealed by itself: the seal is over the JSON as it was written.
pub const MIGRATIONS: [&str; 4] = [
    "
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  last_event_at_ms INTEGER NOT NULL,
  last_active_day INTEGER NOT NULL,
  policy_id INTEGER,
  limit_set_id INTEGER,
  user_limit_set_id INTEGER,
  project_limit_set_id INTEGER,
  turns INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  client_cost_pico_usd INTEGER,
  duration_ms INTEGER NOT NULL,
  engine TEXT NOT NULL
) STRICT;
CREATE INDEX session_by_last_active_day ON session (last_active_day);
CREATE INDEX session_that_is_open ON session (started_at_ms) WHERE status <> 'completed';
CREATE TABLE run (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  name TEXT,
  parent_run_id TEXT,
  depth INTEGER NOT NULL,
  task TEXT,
  status TEXT NOT NULL,
  stop_reason TEXT,
  started_at_ms INTEGER NOT NULL,
  last_event_at_ms INTEGER NOT NULL,
  limit_set_id INTEGER,
  turns INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT;
CREATE INDEX run_by_id ON run (id);
CREATE INDEX run_by_name ON run (session_id, name) WHERE name IS NOT NULL;
CREATE INDEX run_by_task ON run (task) WHERE task IS NOT NULL;
CREATE TABLE tool_call (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  state TEXT NOT NULL,
  requested_at_ms INTEGER,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE response (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  model TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  is_inherited INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX response_by_time ON response (at_ms, id);
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  limit_key TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_time ON event (at_ms);
CREATE INDEX event_by_session ON event (session_id);
CREATE TABLE policy (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE limit_set (id INTEGER PRIMARY KEY, limits TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE budget (
  scope TEXT NOT NULL,
  owner TEXT NOT NULL,
  day_cost_pico_usd INTEGER NOT NULL,
  week_cost_pico_usd INTEGER NOT NULL,
  month_cost_pico_usd INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (scope, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE day_sum (
  day TEXT NOT NULL,
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  PRIMARY KEY (day, project, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
",
    "
ALTER TABLE metadata ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
",
    // Calls have seals.
    "",
    // Columns for people: `FOR_PEOPLE`.
    "",
];

/// Columns that are added where they are not there: a database whose version somebody has set back has them already.
pub const FOR_PEOPLE: [(&str, &str, &str); 3] = [
    ("session", "parent_session_id", "ALTER TABLE session ADD COLUMN parent_session_id TEXT;\n"),
    ("response", "output_tokens", "ALTER TABLE response ADD COLUMN output_tokens INTEGER;\n"),
    ("response", "cache_creation_tokens", "ALTER TABLE response ADD COLUMN cache_creation_tokens INTEGER;\n"),
];

/// The versions of one form of the state: what one of them has written, the others read.
const VERSIONS_OF_A_FORM: u32 = 100;
/// The `user_version` of a database after the first migration.
const FIRST: u32 = 100;
/// The `user_version` of a database after every migration.
pub const LATEST: u32 = FIRST + MIGRATIONS.len() as u32 - 1;

/// The first `user_version` whose facts have seals.
const SEALED: u32 = 101;
/// The first `user_version` whose calls have seals.
const CALLS_SEALED: u32 = 102;

/// Bytes of a page. A call writes some four pages, so small ones keep the write-ahead log short.
pub const PAGE: u64 = 2048;

/// How far a database has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// It can be used as it is: it is of this version, or of a newer one of the same form.
    Ready,
    /// It is empty, or lacks the last migrations.
    Behind(u32),
}

/// Returns how far a database has come; an error where its form is another one. Versions of one hundred share a form.
pub fn version(conn: &Connection) -> Result<Version> {
    let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let form = |version: u32| version / VERSIONS_OF_A_FORM;
    if version > 0 && form(version) < form(FIRST) {
        return Err(Error::failed(
            "an early version of fusebox has written the state, in a form that is no longer read",
        )
        .of_kind(ErrorKind::Outdated)
        .hint("wait for a next event of a session: it sets the file aside and begins a new one"));
    }
    if form(version) > form(FIRST) {
        let path = conn.path().unwrap_or("state.db");
        let what = format!("a newer version of fusebox has written the state (schema {version}, known here: {LATEST})");
        return Err(Error::failed(what).of_kind(ErrorKind::TooNew).hint(format!(
            "install that version again; where none was, move `{path}` away, and sessions that go on are counted again"
        )));
    }
    Ok(if version < LATEST { Version::Behind(version) } else { Version::Ready })
}

fn add_columns(conn: &Connection) -> Result<()> {
    let known = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    for (table, column, adds) in FOR_PEOPLE {
        let columns: u32 = conn.query_row(known, [table, column], |row| row.get(0))?;
        if columns == 0 {
            conn.execute_batch(adds)?;
        }
    }
    Ok(())
}

/// Brings a database up to date.
pub fn migrate(conn: &Connection) -> Result<()> {
    conn.execute_batch(&format!("PRAGMA page_size={PAGE}"))?;
    conn.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    conn.execute_batch("BEGIN EXCLUSIVE")?;
    if let Version::Behind(done) = version(conn)? {
        let migrations = MIGRATIONS.iter().skip((done + 1).saturating_sub(FIRST) as usize);
        migrations.into_iter().try_for_each(|migration| conn.execute_batch(migration))?;
        add_columns(conn)?;
        if (FIRST..CALLS_SEALED).contains(&done) {
            sealed_metadata::note_earlier_rows(conn)?;
        }
        if done < SEALED {
            sealed_metadata::seal_all(conn)?;
        }
        // Another process may have brought it further meanwhile.
        conn.execute_batch(&format!("PRAGMA user_version={LATEST}"))?;
    }
    conn.execute_batch("COMMIT")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrating_twice_is_migrating_once() -> Result<()> {
        let conn = Connection::open_in_memory()?;
        assert_eq!(version(&conn)?, Version::Behind(0));
        migrate(&conn)?;
        migrate(&conn)?;
        assert_eq!(version(&conn)?, Version::Ready);
        Ok(())
    }

    #[test]
    fn a_database_whose_version_was_set_back_is_brought_up_to_date() -> Result<()> {
        let conn = Connection::open_in_memory()?;
        migrate(&conn)?;
        for set_back in SEALED..LATEST {
            conn.execute_batch(&format!("PRAGMA user_version={set_back}"))?;
            migrate(&conn)?;
            assert_eq!(version(&conn)?, Version::Ready);
        }
        Ok(())
    }

    #[test]
    fn a_database_that_a_newer_version_has_brought_up_to_date_stays_so() -> Result<()> {
        let conn = Connection::open_in_memory()?;
        migrate(&conn)?;
        conn.execute_batch(&format!("PRAGMA user_version={}", LATEST + 1))?;
        migrate(&conn)?;
        let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        assert_eq!(version, LATEST + 1);
        Ok(())
    }

    #[test]
    fn versions_of_one_form_read_each_other_and_no_others() -> Result<()> {
        let conn = Connection::open_in_memory()?;
        for (found, kind) in [
            (1, Some(ErrorKind::Outdated)),
            (99, Some(ErrorKind::Outdated)),
            (LATEST, None),
            (LATEST + 1, None),
            (199, None),
            (200, Some(ErrorKind::TooNew)),
        ] {
            conn.execute_batch(&format!("PRAGMA user_version={found}"))?;
            assert_eq!(version(&conn).err().map(|cause| cause.kind), kind, "{found}");
        }
        Ok(())
    }
}
