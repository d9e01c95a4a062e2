//! Small facts by name: pinned policies, trust, means of first requests.

use rusqlite::{OptionalExtension, params};

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Returns a fact.
    pub fn fact(&self, name: &str) -> Result<Option<String>> {
        let mut statement = self.conn.prepare_cached("SELECT value FROM fact WHERE name = ?1")?;
        Ok(statement.query_row(params![name], |row| row.get(0)).optional()?)
    }

    /// Sets a fact.
    pub fn set_fact(&self, name: &str, value: &str) -> Result<()> {
        self.conn.execute("INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)", params![name, value])?;
        Ok(())
    }

    /// Forgets a fact.
    pub fn forget_fact(&self, name: &str) -> Result<()> {
        self.conn.execute("DELETE FROM fact WHERE name = ?1", params![name])?;
        Ok(())
    }
}
