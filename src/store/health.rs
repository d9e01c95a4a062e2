//! Whether the database is sound: what `doctor` asks; and what is done with one that is not.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::locks::Locks;
use crate::platform::{changes, file_info, files};
use crate::store::value::is_json;
use crate::store::{FILE, Store, connect, schema};

/// Columns that hold JSON, each with its table: those of few rows.
const FEW: [(&str, &str); 3] = [("policy", "content"), ("limit_set", "limits"), ("budget", "engine")];
/// Columns that hold JSON, each with its table: those of many rows.
const MANY: [(&str, &str); 5] =
    [("session", "engine"), ("run", "engine"), ("tool_call", "engine"), ("response", "engine"), ("event", "record")];

/// Why a database was moved out of the way, in its name.
const ASIDE: [&str; 2] = ["outdated", "corrupt"];
/// How many entries of the state's folder are looked at.
const MOST_ENTRIES: usize = 10_000;

/// The rows that name limits which are missing.
const WITHOUT_LIMITS: &str = "SELECT count(*) FROM
    (SELECT limit_set_id AS id FROM run UNION SELECT limit_set_id FROM session
        UNION SELECT user_limit_set_id FROM session UNION SELECT project_limit_set_id FROM session)
    WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM limit_set)";

/// What somebody else has put into the schema, and what does nothing here.
const STRANGE: &str = "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY 1";

impl Store {
    /// Returns what is wrong with the database; nothing where all is well. Hooks wait for it, so not every row is read.
    pub fn faults(&self) -> Result<Vec<String>> {
        faults(&self.conn, &FEW)
    }

    /// Tries to write, and takes it back.
    pub fn try_write(&self) -> Result<()> {
        self.conn
            .execute_batch("BEGIN IMMEDIATE; REPLACE INTO metadata (key, value) VALUES ('doctor', ''); ROLLBACK")?;
        Ok(())
    }

    /// Returns how the database keeps its journal: `wal`, unless the file system cannot do it.
    pub fn journal(&self) -> Result<String> {
        Ok(self.conn.query_row("PRAGMA journal_mode", [], |row| row.get(0))?)
    }
}

/// Moves a database that cannot be read out of the way and returns where to; nothing where another process already has. It is
/// never deleted, and what it had counted is found again in the transcripts.
pub fn set_aside(folder: &Path) -> Result<Option<PathBuf>> {
    let locks = Locks::acquire(folder, None)?;
    if locks.missed {
        return Err(Error::failed("the database is damaged, and somebody else holds it").of_kind(ErrorKind::Busy));
    }
    let path = folder.join(FILE);
    let why = match fault(&path)? {
        Some(ErrorKind::Outdated) => ASIDE[0],
        Some(_) => ASIDE[1],
        None => return Ok(None),
    };
    let stamp = file_info::of(&path).map_or(0, |meta| meta.modified_ns / 1_000_000);
    let names = (stamp..).map(|stamp| folder.join(format!("{FILE}.{why}-{stamp}")));
    let aside = names.into_iter().find(|name| file_info::of_itself(name).is_err()).unwrap_or_default();
    changes::rename(&path, &aside).map_err(|cause| Error::file("set aside", &path, cause))?;
    for end in ["-wal", "-shm"] {
        let with_end = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        let _not_there = changes::rename(&with_end(&path), &with_end(&aside));
    }
    Ok(Some(aside))
}

/// Returns the databases that were moved out of the way.
pub fn asides(folder: &Path) -> Vec<PathBuf> {
    let listed = files::entries(folder, MOST_ENTRIES).map(|listed| listed.found).unwrap_or_default();
    let is_aside = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(FILE));
        name.is_some_and(|rest| {
            ASIDE.iter().any(|why| rest.starts_with(&format!(".{why}-")))
                && !rest.ends_with("-wal")
                && !rest.ends_with("-shm")
        })
    };
    listed.into_iter().map(|entry| entry.path).filter(is_aside).collect()
}

/// Returns why a database cannot be read.
fn fault(path: &Path) -> Result<Option<ErrorKind>> {
    match connect(path, schema::migrate).and_then(|conn| faults(&conn, &[&FEW[..], &MANY].concat())) {
        Ok(faults) if faults.is_empty() => Ok(None),
        Ok(_) => Ok(Some(ErrorKind::Corrupt)),
        Err(cause) if matches!(cause.kind, ErrorKind::Corrupt | ErrorKind::Outdated) => Ok(Some(cause.kind)),
        Err(cause) => Err(cause),
    }
}

/// Returns what SQLite finds wrong, and what cannot be read all the same: what SQLite holds to be sound may be damaged.
fn faults(conn: &Connection, json: &[(&str, &str)]) -> Result<Vec<String>> {
    let mut check = conn.prepare("PRAGMA quick_check(5)")?;
    let found = check.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut faults: Vec<String> = found.into_iter().filter(|fault| fault != "ok").collect();
    let without_limits: i64 = conn.query_row(WITHOUT_LIMITS, [], |row| row.get(0))?;
    if without_limits > 0 {
        faults.push(format!("{without_limits} sets of limits are missing"));
    }
    let mut strange = conn.prepare(STRANGE)?;
    for name in strange.query_map([], |row| row.get::<_, String>(0))? {
        faults.push(format!("the {} is none of Fusebox's: somebody has changed the database", name?));
    }
    for (table, column) in json {
        let mut statement = conn.prepare(&format!("SELECT {column} FROM {table}"))?;
        let mut rows = statement.query([])?;
        let mut damaged = 0;
        while let Some(row) = rows.next()? {
            damaged += u64::from(!is_json(row.get_ref(0)?.as_bytes()?));
        }
        if damaged > 0 {
            faults.push(format!("{damaged} rows of {table} have no valid JSON in {column}"));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::Session;

    fn all_faults(store: &Store) -> Vec<String> {
        faults(&store.conn, &[&FEW[..], &MANY].concat()).unwrap()
    }

    #[test]
    fn what_cannot_be_read_is_found_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        let session = Session { id: "one".to_owned(), folder: "/p/\"é".to_owned(), ..Session::default() };
        store.save_session(&session).unwrap();
        let engine = |bytes: &[u8]| {
            let set = "UPDATE session SET engine = CAST(?1 AS TEXT)";
            store.conn.execute(set, [bytes]).unwrap();
        };
        let whole: String = store.conn.query_row("SELECT engine FROM session", [], |row| row.get(0)).unwrap();
        let whole = whole.into_bytes();
        let mut damaged = 0;
        for at in 0..whole.len() {
            let changed = |byte: u8| [&whole[..at], &[byte], &whole[at + 1..]].concat();
            for broken in [whole[..at].to_vec(), changed(!whole[at]), changed(whole[at] ^ 1), changed(0)] {
                engine(&broken);
                if store.session("one").is_err_and(|cause| cause.kind == ErrorKind::Corrupt) {
                    damaged += 1;
                    assert!(!all_faults(&store).is_empty(), "{:?}", String::from_utf8_lossy(&broken));
                }
            }
        }
        assert!(damaged > whole.len(), "{damaged} of {}", whole.len());
        engine(&whole);
        assert_eq!(all_faults(&store), Vec::<String>::new());
        store.conn.execute("UPDATE session SET user_limit_set_id = 7", []).unwrap();
        assert!(store.session("one").is_err_and(|cause| cause.kind == ErrorKind::Corrupt));
        assert!(!all_faults(&store).is_empty());
    }

    #[test]
    fn a_state_of_an_early_version_is_set_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let early = "CREATE TABLE entry (id INTEGER PRIMARY KEY, name, body); PRAGMA user_version=1";
        let flags = rusqlite::OpenFlags::default();
        Connection::open_with_flags(&path, flags).unwrap().execute_batch(early).unwrap();
        let refused = Store::open_for(folder.path(), None).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Outdated);
        assert!(Store::open_as_it_is(folder.path()).unwrap().is_none());
        let aside = set_aside(folder.path()).unwrap().unwrap();
        assert!(file_info::is_file(&aside) && aside.to_string_lossy().contains("outdated"), "{}", aside.display());
        assert!(Store::open_for(folder.path(), None).unwrap().session("one").unwrap().is_none());
        assert_eq!(set_aside(folder.path()).unwrap(), None);
    }

    #[test]
    fn what_others_put_into_the_schema_does_nothing_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open_for(folder.path(), None).unwrap();
        open().set_metadata("zone", "before").unwrap();
        open()
            .conn
            .execute_batch(
                "CREATE TRIGGER undo AFTER UPDATE ON metadata BEGIN UPDATE metadata SET value = 'undone'; END;
                 CREATE TRIGGER lose AFTER INSERT ON metadata BEGIN DELETE FROM metadata; END;
                 CREATE VIEW seen AS SELECT * FROM metadata;",
            )
            .unwrap();
        let store = open();
        store.set_metadata("zone", "after").unwrap();
        assert_eq!(store.metadata("zone").unwrap().as_deref(), Some("after"));
        let told = store.faults().unwrap();
        for name in ["trigger lose", "trigger undo", "view seen"] {
            assert!(told.iter().any(|fault| fault.contains(name)), "{told:?}");
        }
    }
}
