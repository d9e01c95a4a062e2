//! Entries by name: the three statements that everything else is made of.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::store::Store;

/// Reads one entry; the first statement of every process, so that it tells whether the table is there.
pub const GET: &str = "SELECT body FROM entry WHERE name = ?1";
/// Never REPLACE: that would give the row a new place, and write the index too.
const PUT: &str = "INSERT INTO entry VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET body = ?2";
const SCAN: &str = "SELECT name, body FROM entry WHERE name >= ?1 AND name < ?2 ORDER BY name";

impl Store {
    /// Returns the text of an entry.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        Ok(self.conn.prepare_cached(GET)?.query_row(params![name], |row| row.get(0)).optional()?)
    }

    /// Returns the body of an entry.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.text(name)?.map(|body| parse(name, &body)).transpose()
    }

    /// Sets an entry's text.
    pub fn put_text(&self, name: &str, body: &str) -> Result<()> {
        self.conn.prepare_cached(PUT)?.execute(params![name, body])?;
        Ok(())
    }

    /// Sets an entry's body.
    pub fn put<T: Serialize>(&self, name: &str, body: &T) -> Result<()> {
        let body = serde_json::to_string(body);
        let body = body.map_err(|cause| Error::failed(format!("`{name}` cannot be written: {cause}")))?;
        self.put_text(name, &body)
    }

    /// Forgets an entry.
    pub fn forget(&self, name: &str) -> Result<()> {
        self.conn.execute("DELETE FROM entry WHERE name = ?1", params![name])?;
        Ok(())
    }

    /// Returns the entries whose names begin with `prefix`, in order: the rest of the name, and the text.
    pub fn below(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        let mut statement = self.conn.prepare_cached(SCAN)?;
        let end = format!("{prefix}\u{10ffff}");
        let rows = statement.query_map(params![prefix, end], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        let rest = |(name, body): (String, String)| (name[prefix.len()..].to_owned(), body);
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().map(rest).collect())
    }

    /// Returns the bodies of the entries whose names begin with `prefix`.
    pub fn all<T: DeserializeOwned>(&self, prefix: &str) -> Result<Vec<T>> {
        self.below(prefix)?.iter().map(|(name, body)| parse(name, body)).collect()
    }
}

fn parse<T: DeserializeOwned>(name: &str, body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(|cause| {
        Error::failed(format!("the state of `{name}` cannot be read: {cause}"))
            .hint("a newer version of fusebox may have written it")
    })
}
