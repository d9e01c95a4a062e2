//! Seals on metadata rows: a hash of name and value, in a column of its own.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::stored::metadata::{EARLIER_ROWS, MetadataKind, SEALS, kind_of};
use crate::domain::stored::stable_hash::StableHash;
use crate::error::Result;

/// Returns the seal of a metadata row. Like a row's it is a hash without a key.
pub(super) fn seal(name: &str, value: &str) -> i64 {
    (StableHash::default().text(name).text(value).value() >> 32).cast_signed()
}

/// Whether a metadata row is among those that are checked together.
pub(super) fn is_checked(name: &str) -> bool {
    kind_of(name).is_some_and(|kind| !kind.is_many && *kind != SEALS)
}

/// Seals the metadata rows of an earlier version, without those that stand for a person's word: a program could take the state back to that
/// version and write any of them.
pub(super) fn seal_all(conn: &Connection) -> Result<()> {
    let mut statement = conn.prepare("SELECT key, value FROM metadata")?;
    let facts: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let is_noted = |name: &str| kind_of(name).is_some_and(|kind: &MetadataKind| kind.command.is_none());
    for (name, value) in facts.iter().filter(|(name, _)| is_noted(name)) {
        conn.execute("UPDATE metadata SET seal = ?2 WHERE key = ?1", params![name, seal(name, value)])?;
    }
    seal_sum(conn)
}

/// Notes that an earlier version has written rows: those without a seal may be its own.
pub(super) fn note_earlier_rows(conn: &Connection) -> Result<()> {
    let (name, value) = (EARLIER_ROWS.stem, "1");
    let sealed = seal(name, value);
    let put = "REPLACE INTO metadata (key, value, seal) VALUES (?1, ?2, ?3)";
    conn.execute(put, params![name, value, sealed])?;
    let all = "SELECT value, seal FROM metadata WHERE key = ?1";
    let seals: Option<(String, i64)> =
        conn.query_row(all, params![SEALS.stem], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let seals = seals.filter(|(text, sealed)| seal(SEALS.stem, text) == *sealed);
    if let Some(seals) = seals.and_then(|(text, _)| text.parse::<i64>().ok()) {
        let text = (seals ^ sealed).to_string();
        conn.execute(put, params![SEALS.stem, text, seal(SEALS.stem, &text)])?;
    }
    Ok(())
}

/// Writes the sum of the seals of all metadata rows that are checked together.
pub(super) fn seal_sum(conn: &Connection) -> Result<()> {
    let mut statement = conn.prepare("SELECT key, value, seal FROM metadata")?;
    let mut rows = statement.query([])?;
    let mut seals = 0;
    while let Some(row) = rows.next()? {
        let (name, value, sealed): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let counts = is_checked(&name) && sealed == seal(&name, &value);
        seals ^= if counts { sealed } else { 0 };
    }
    let text = seals.to_string();
    let put = "REPLACE INTO metadata (key, value, seal) VALUES (?1, ?2, ?3)";
    conn.execute(put, params![SEALS.stem, text, seal(SEALS.stem, &text)])?;
    Ok(())
}
