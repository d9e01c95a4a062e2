//! Whether the database is sound: what `doctor` asks; and what is done with one that is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::locks::Locks;
use crate::store::{FILE, Store, connect, entries, schema};

/// Entries whose text is JSON, too: sessions as earlier versions wrote them, and policies.
const JSON: [&str; 2] = ["s/", "x/fact/policy:"];

impl Store {
    /// Returns what SQLite finds wrong with the database; nothing where all is well.
    pub fn faults(&self) -> Result<Vec<String>> {
        let mut statement = self.conn.prepare("PRAGMA quick_check(5)")?;
        let faults = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(faults.into_iter().filter(|fault| fault != "ok").collect())
    }

    /// Tries to write, and takes it back.
    pub fn try_write(&self) -> Result<()> {
        self.conn.execute_batch("BEGIN IMMEDIATE; INSERT INTO entry VALUES (-1, 'doctor', ''); ROLLBACK")?;
        Ok(())
    }

    /// Returns how the database keeps its journal: `wal`, unless the file system cannot do it.
    pub fn journal(&self) -> Result<String> {
        Ok(self.conn.query_row("PRAGMA journal_mode", [], |row| row.get(0))?)
    }
}

/// Moves a damaged database out of the way and returns where to; nothing where another process already has. It is never
/// deleted, and what it had counted is found again in the transcripts.
pub fn set_aside(folder: &Path) -> Result<Option<PathBuf>> {
    let locks = Locks::acquire(folder, None)?;
    if locks.missed {
        return Err(Error::failed("the database is damaged, and somebody else holds it").of_kind(ErrorKind::Busy));
    }
    let path = folder.join(FILE);
    if is_sound(&path)? {
        return Ok(None);
    }
    let modified = fs::metadata(&path).and_then(|meta| meta.modified()).ok();
    let stamp = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |age| age.as_millis());
    let names = (stamp..).map(|stamp| folder.join(format!("{FILE}.corrupt-{stamp}")));
    let aside = names.into_iter().find(|name| fs::symlink_metadata(name).is_err()).unwrap_or_default();
    fs::rename(&path, &aside).map_err(|cause| Error::file("set aside", &path, cause))?;
    for end in ["-wal", "-shm"] {
        let with_end = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        let _not_there = fs::rename(with_end(&path), with_end(&aside));
    }
    Ok(Some(aside))
}

fn is_sound(path: &Path) -> Result<bool> {
    match connect(path, schema::migrate).and_then(|conn| check(&conn)) {
        Err(cause) if cause.kind == ErrorKind::Corrupt => Ok(false),
        other => other,
    }
}

/// Whether SQLite finds nothing wrong, and every entry can be read: what SQLite holds to be sound may be damaged all the same.
fn check(conn: &Connection) -> Result<bool> {
    let found: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    let mut statement = conn.prepare("SELECT name, body FROM entry")?;
    let mut rows = statement.query([])?;
    let mut is_sound = found == "ok";
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        is_sound &= match row.get_ref(1)? {
            ValueRef::Text(text) if !JSON.iter().any(|family| name.starts_with(family)) => str::from_utf8(text).is_ok(),
            body => entries::is_whole(body),
        };
    }
    Ok(is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::Session;

    #[test]
    fn what_cannot_be_read_is_found_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        for name in ["s/one", "x/pool/user:"] {
            let session = Session { id: "one".to_owned(), folder: "/p/\"é".to_owned(), ..Session::default() };
            store.put(name, &session).unwrap();
            let body = |body: &[u8]| store.conn.execute("UPDATE entry SET body = ?1 WHERE name = ?2", (body, name));
            let whole: Vec<u8> =
                store.conn.query_row("SELECT body FROM entry WHERE name = ?1", [name], |row| row.get(0)).unwrap();
            let mut damaged = 0;
            for at in 0..whole.len() {
                let changed = |byte: u8| [&whole[..at], &[byte], &whole[at + 1..]].concat();
                for broken in [whole[..at].to_vec(), changed(!whole[at]), changed(whole[at] ^ 1), changed(0)] {
                    body(&broken).unwrap();
                    let read = store.get::<Session>(name);
                    if read.is_err_and(|cause| cause.kind == ErrorKind::Corrupt) {
                        damaged += 1;
                        assert!(!check(&store.conn).unwrap(), "{name}: {broken:?}");
                    }
                }
            }
            assert!(damaged > whole.len(), "{damaged} of {}", whole.len());
            body(&whole).unwrap();
            assert!(check(&store.conn).unwrap());
        }
    }
}
