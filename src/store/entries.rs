//! Entries by name: the few statements that everything else is made of.

use std::collections::BTreeMap;

use rusqlite::params;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ValueRef};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::domain::stable_hash;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Store, jsonb};

/// Reads one entry; the first statement of every process, so that it tells whether the table is there.
pub const GET: &str = "SELECT name, body FROM entry WHERE id = ?1";
/// Sets one entry. Each statement is compiled anew in every process, so one serves entries that are there and new ones.
const PUT: &str = "REPLACE INTO entry VALUES (?1, ?2, ?3)";
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

/// Returns the smallest and the largest id that an entry of the family of a name can have. Two families may share them.
pub fn range_of(name: &str) -> (i64, i64) {
    let first = first_of(family_of(name));
    (first, first | OWN.cast_signed())
}

/// Returns the smallest id of a family.
fn first_of(family: &str) -> i64 {
    ((hash(family.as_bytes()) << OWN_BITS) & (i64::MAX as u64)).cast_signed()
}

/// Hashes a name; the upper bits, which are cut off, count too.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let hash = stable_hash::of(bytes);
    hash ^ (hash >> 32)
}

/// The body of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A text of its own kind, or JSON as earlier versions wrote it.
    Text(String),
    /// JSONB.
    Binary(Vec<u8>),
}

impl Body {
    /// Returns the text; nothing of a body that is JSONB.
    pub fn text(&self) -> &str {
        match self {
            Body::Text(text) => text,
            Body::Binary(_) => "",
        }
    }

    /// Reads what the body of the entry of this name holds.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        match self {
            Body::Text(text) => parse(name, ValueRef::Text(text.as_bytes())),
            Body::Binary(bytes) => parse(name, ValueRef::Blob(bytes)),
        }
    }
}

impl FromSql for Body {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Body> {
        match value {
            ValueRef::Blob(bytes) => Ok(Body::Binary(bytes.to_vec())),
            other => String::column_result(other).map(Body::Text),
        }
    }
}

/// Where entries stand that were looked up since the last [`Store::begin`]: one event may look up tens of thousands.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The id of each name, or the free one that it would get.
    ids: BTreeMap<String, i64>,
    /// The names of the entries that are there.
    taken: BTreeMap<i64, String>,
}

impl Places {
    /// Returns the id of a name, unless another name has taken it since it was looked up.
    fn of(&self, name: &str) -> Option<i64> {
        let id = self.ids.get(name)?;
        self.taken.get(id).is_none_or(|taker| taker == name).then_some(*id)
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.taken.clear();
    }
}

impl Store {
    /// Finds an entry and reads its body where it stands.
    fn find<T>(&self, name: &str, read: impl FnOnce(ValueRef) -> Result<T>) -> Result<Option<T>> {
        let mut statement = self.conn.prepare_cached(GET)?;
        let mut id = id_of(name);
        let found = loop {
            let mut rows = statement.query(params![id])?;
            match rows.next()? {
                Some(row) if row.get_ref(0)?.as_bytes().is_ok_and(|found| found == name.as_bytes()) => {
                    break Some(read(row.get_ref(1)?)?);
                }
                Some(_) => id += 1,
                None => break None,
            }
        };
        let mut places = self.places.borrow_mut();
        places.ids.insert(name.to_owned(), id);
        if found.is_some() {
            places.taken.insert(id, name.to_owned());
        }
        Ok(found)
    }

    /// Returns the text of an entry.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.find(name, |body| Ok(String::column_result(body).map_err(rusqlite::Error::from)?))
    }

    /// Returns the body of an entry.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.find(name, |body| parse(name, body))
    }

    /// Whether there is an entry.
    pub fn has(&self, name: &str) -> Result<bool> {
        Ok(self.find(name, |_| Ok(()))?.is_some())
    }

    /// Returns the id of an entry, or the free one that it gets.
    fn place(&self, name: &str) -> Result<i64> {
        let known = || self.places.borrow().of(name);
        if known().is_none() {
            self.find(name, |_| Ok(()))?;
        }
        let id = known().unwrap_or_else(|| id_of(name));
        self.places.borrow_mut().taken.insert(id, name.to_owned());
        Ok(id)
    }

    fn set(&self, name: &str, body: &dyn ToSql) -> Result<()> {
        let id = self.place(name)?;
        self.conn.prepare_cached(PUT)?.execute(params![id, name, body])?;
        Ok(())
    }

    /// Sets an entry's text.
    pub fn put_text(&self, name: &str, body: &str) -> Result<()> {
        self.set(name, &body)
    }

    /// Sets an entry's body.
    pub fn put<T: Serialize>(&self, name: &str, body: &T) -> Result<()> {
        let body = jsonb::to_vec(body);
        let body = body.map_err(|cause| Error::failed(format!("`{name}` cannot be written: {cause}")))?;
        self.set(name, &body)
    }

    /// Forgets an entry. Its place stays taken, so that those that moved on because of it are still found.
    pub fn delete(&self, name: &str) -> Result<()> {
        if self.find(name, |_| Ok(()))?.is_some() {
            let id = self.place(name)?;
            self.places.borrow_mut().ids.remove(name);
            self.conn.execute("UPDATE entry SET name = '' WHERE id = ?1", params![id])?;
        }
        Ok(())
    }

    /// Returns the entries whose names begin with `prefix`, by name: the rest of the name, and the body.
    pub fn below(&self, prefix: &str) -> Result<Vec<(String, Body)>> {
        let mut statement = self.conn.prepare_cached(SCAN)?;
        let first = first_of(family_of(prefix));
        let last = first | OWN.cast_signed();
        let rows = statement.query_map(params![first, last], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        let mut found = Vec::new();
        for row in rows {
            let (name, body) = row?;
            found.extend(name.strip_prefix(prefix).map(|rest| (rest.to_owned(), body)));
        }
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    /// Returns the bodies of the entries whose names begin with `prefix`; `tell` puts into each what the rest of its name says.
    pub fn all_named<T: DeserializeOwned>(&self, prefix: &str, tell: impl Fn(&mut T, &str)) -> Result<Vec<T>> {
        let entries = self.below(prefix)?;
        let told = entries.iter().map(|(rest, body)| {
            let mut found = body.read(rest)?;
            tell(&mut found, rest);
            Ok(found)
        });
        told.collect()
    }

    /// Returns the bodies of the entries whose names begin with `prefix`.
    pub fn all<T: DeserializeOwned>(&self, prefix: &str) -> Result<Vec<T>> {
        self.below(prefix)?.iter().map(|(name, body)| body.read(name)).collect()
    }
}

/// Whether a body is JSONB or JSON text, to its last byte.
pub(super) fn is_whole(body: ValueRef) -> bool {
    match body {
        ValueRef::Blob(bytes) => jsonb::from_slice::<Value>(bytes).is_ok(),
        ValueRef::Text(text) => serde_json::from_slice::<Value>(text).is_ok(),
        _ => false,
    }
}

/// Reads a body: JSONB, or the JSON text that earlier versions wrote.
fn parse<T: DeserializeOwned>(name: &str, body: ValueRef) -> Result<T> {
    let read = match body {
        ValueRef::Blob(bytes) => jsonb::from_slice(bytes),
        ValueRef::Text(text) => serde_json::from_slice(text),
        _ => Err(serde_json::Error::custom("it is neither a text nor a blob")),
    };
    read.map_err(|cause| {
        // What is whole, but not of our form, may be a newer version's.
        let kind = if is_whole(body) { ErrorKind::Failed } else { ErrorKind::Corrupt };
        Error::failed(format!("the state of `{name}` cannot be read: {cause}"))
            .of_kind(kind)
            .hint("a newer version of fusebox may have written it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_meet_at_one_id_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        let names = ["x/log/1", "x/log/01", "x/log/001"];
        assert!(names.iter().all(|name| store.text(name).unwrap().is_none()));
        for text in ["one", "two"] {
            for name in names {
                store.put_text(name, &format!("{text} {name}")).unwrap();
            }
            for name in names {
                assert_eq!(store.text(name).unwrap(), Some(format!("{text} {name}")));
            }
            assert_eq!(store.below("x/log/").unwrap().len(), names.len());
        }
        store.delete(names[0]).unwrap();
        assert_eq!(store.text(names[0]).unwrap(), None);
        assert_eq!(store.text(names[1]).unwrap(), Some(format!("two {}", names[1])));
    }

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
