//! The table `metadata`: small facts by name, such as trust, clients and when the state was last pruned.

use rusqlite::{OptionalExtension, params};

use crate::error::Result;
use crate::store::Store;
use crate::store::value::column;

/// Names that begin with `?1`, after `?2`.
const BELOW: &str = "WHERE key > ?1 || ?2 AND key < ?1 || char(1114111)";

impl Store {
    /// Returns a fact.
    pub fn metadata(&self, name: &str) -> Result<Option<String>> {
        let mut statement = self.prepare("SELECT value FROM metadata WHERE key = ?1")?;
        Ok(statement.query_row(params![name], |row| row.get(0)).optional()?)
    }

    /// Sets a fact.
    pub fn set_metadata(&self, name: &str, value: &str) -> Result<()> {
        self.prepare("REPLACE INTO metadata (key, value) VALUES (?1, ?2)")?.execute(params![name, value])?;
        Ok(())
    }

    /// Deletes a fact.
    pub fn delete_metadata(&self, name: &str) -> Result<()> {
        self.conn.execute("DELETE FROM metadata WHERE key = ?1", params![name])?;
        Ok(())
    }

    /// Returns some of the facts whose names begin with `prefix`, by name: the rest of the name, and the value. They come after
    /// the one whose name ends with `after`.
    pub fn some_metadata(&self, prefix: &str, after: &str, most: u64) -> Result<Vec<(String, String)>> {
        let some = format!("SELECT substr(key, length(?1) + 1), value FROM metadata {BELOW} ORDER BY key LIMIT ?3");
        let mut statement = self.prepare(&some)?;
        let rows = statement.query_map(params![prefix, after, column(most)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the client processes that sessions were pinned by in a boot, with their start times: by the facts about them, and by
    /// the open sessions, since facts may be gone.
    pub fn clients(&self, boot: u64) -> Result<Vec<(u32, u64)>> {
        let client = |(name, _): &(String, String)| {
            let mut parts = name.split(':');
            let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let of: u64 = parts.next()?.parse().ok()?;
            (of == boot).then_some((pid, start))
        };
        let mut clients: Vec<(u32, u64)> =
            self.some_metadata("client:", "", u64::MAX)?.iter().filter_map(client).collect();
        let open = self.open_sessions()?.into_iter().filter(|session| session.last.boot == boot);
        clients.extend(open.filter_map(|session| session.client).map(|client| (client.pid, client.start)));
        Ok(clients)
    }
}
