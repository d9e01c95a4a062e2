//! Entries by name: the few statements that everything else is made of.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::store::Store;

/// Reads one entry; the first statement of every process, so that it tells whether the table is there.
pub const GET: &str = "SELECT name, body FROM entry WHERE id = ?1";
const UPDATE: &str = "UPDATE entry SET body = ?3 WHERE id = ?1 AND name = ?2";
const INSERT: &str = "INSERT OR IGNORE INTO entry VALUES (?1, ?2, ?3)";
const SCAN: &str = "SELECT name, body FROM entry WHERE id BETWEEN ?1 AND ?2 ORDER BY id";

/// Bits of an id that tell the entries of one family apart.
const OWN_BITS: u32 = 39;
const OWN: u64 = (1 << OWN_BITS) - 1;

/// Returns where an entry belongs: its family (a session, or a kind) in the upper bits, itself in the lower.
///
/// Numbered entries follow each other. Two names can meet at one id: the later one goes to the next free id.
pub fn id_of(name: &str) -> i64 {
    let family = family_of(name);
    let own = match (name.strip_prefix("x/log/").map(str::parse::<u64>), name.as_bytes().get(family.len() + 1)) {
        (Some(Ok(number)), _) => number,
        (_, None) => 0,
        // A session's runs stand next to it: every event writes both.
        (_, Some(b'a')) => hash(name.as_bytes()) & (OWN >> 2),
        (_, Some(_)) => hash(name.as_bytes()) | (OWN & !(OWN >> 2)),
    };
    ((first_of(family) as u64) | (own & OWN)).cast_signed()
}

/// Returns the part of a name up to its second slash.
fn family_of(name: &str) -> &str {
    let mut slashes = name.match_indices('/').map(|(at, _)| at);
    slashes.nth(1).map_or(name, |at| &name[..at])
}

/// Returns the smallest id of a family.
fn first_of(family: &str) -> i64 {
    ((hash(family.as_bytes()) << OWN_BITS) & (i64::MAX as u64)).cast_signed()
}

/// Hashes with FNV-1a: it must give the same for ever, which the standard library's hasher does not promise.
fn hash(bytes: &[u8]) -> u64 {
    let mixed = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    mixed ^ (mixed >> 32)
}

impl Store {
    /// Returns the text of an entry.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let mut statement = self.conn.prepare_cached(GET)?;
        let mut id = id_of(name);
        loop {
            let row = statement.query_row(params![id], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).optional()?;
            match row {
                Some((found, body)) if found == name => return Ok(Some(body)),
                Some(_) => id += 1,
                None => return Ok(None),
            }
        }
    }

    /// Returns the body of an entry.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.text(name)?.map(|body| parse(name, &body)).transpose()
    }

    /// Sets an entry's text. Most entries are there already, and a plain update is compiled in half the time of an upsert.
    pub fn put_text(&self, name: &str, body: &str) -> Result<()> {
        let mut id = id_of(name);
        loop {
            if self.conn.prepare_cached(UPDATE)?.execute(params![id, name, body])? > 0
                || self.conn.prepare_cached(INSERT)?.execute(params![id, name, body])? > 0
            {
                return Ok(());
            }
            id += 1;
        }
    }

    /// Sets an entry's body.
    pub fn put<T: Serialize>(&self, name: &str, body: &T) -> Result<()> {
        let body = serde_json::to_string(body);
        let body = body.map_err(|cause| Error::failed(format!("`{name}` cannot be written: {cause}")))?;
        self.put_text(name, &body)
    }

    /// Forgets an entry. Its place stays taken, so that those that moved on because of it are still found.
    pub fn forget(&self, name: &str) -> Result<()> {
        if self.text(name)?.is_some() {
            let family = first_of(family_of(name));
            let sql = "UPDATE entry SET name = '' WHERE id BETWEEN ?1 AND ?2 AND name = ?3";
            self.conn.execute(sql, params![family, family | OWN.cast_signed(), name])?;
        }
        Ok(())
    }

    /// Returns the entries whose names begin with `prefix`, by name: the rest of the name, and the text.
    pub fn below(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        let mut statement = self.conn.prepare_cached(SCAN)?;
        let first = first_of(family_of(prefix));
        let last = first | OWN.cast_signed();
        let rows = statement.query_map(params![first, last], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        let mut found = Vec::new();
        for row in rows {
            let (name, body) = row?;
            found.extend(name.strip_prefix(prefix).map(|rest| (rest.to_owned(), body)));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Returns the bodies of the entries whose names begin with `prefix`; `tell` puts into each what the rest of its name says.
    pub fn all_named<T: DeserializeOwned>(&self, prefix: &str, tell: impl Fn(&mut T, &str)) -> Result<Vec<T>> {
        let entries = self.below(prefix)?;
        let told = entries.iter().map(|(rest, body)| {
            let mut found = parse(rest, body)?;
            tell(&mut found, rest);
            Ok(found)
        });
        told.collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_family_stand_together_and_records_in_order() {
        let family = |name| id_of(name) >> OWN_BITS;
        assert_eq!(family("s/one"), family("s/one/a/run"));
        assert_ne!(family("s/one"), family("s/two"));
        assert_eq!(id_of("s/one"), first_of("s/one"));
        assert!(id_of("s/one/a/run") < id_of("s/one/c/call"));
        assert_eq!(id_of("x/log/000000000002") - id_of("x/log/000000000001"), 1);
        assert!(["s/one", "s/two/a/b", "x/fact/trust:/p"].iter().all(|name| id_of(name) >= 0));
    }
}
