//! Whether the database is sound: what `doctor` asks.

use crate::error::Result;
use crate::store::Store;

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
