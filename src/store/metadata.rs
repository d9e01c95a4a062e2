//! The table `metadata`: small metadata rows by name, such as trust, clients and when the state was last pruned.
//!
//! Each has a seal, a hash of its name and value: a metadata row without the right one is not believed. The metadata row `seals` has the seals of all
//! that are checked at once, so that one that is gone is missed.

use rusqlite::{OptionalExtension, params};
use serde::de::DeserializeOwned;

use crate::domain::stored::metadata::{self, SEALS, kind_of};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::sealed_metadata::{is_checked, seal, seal_sum};
use crate::store::value::column;

/// Names that begin with `?1`, after `?2`.
const BELOW: &str = "WHERE key > ?1 || ?2 AND key < ?1 || char(1114111)";
/// The most metadata rows that are checked at once.
const MOST: u64 = 20_000;

/// What is wrong with the metadata rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataFaults {
    /// The names of those that another program has written.
    pub altered: Vec<String>,
    /// Whether one is gone that Fusebox has written.
    pub lacks_some: bool,
}

impl Store {
    /// Returns a metadata row. One that another program has written is none, and is remembered as that.
    pub fn metadata(&self, name: &str) -> Result<Option<String>> {
        let mut statement = self.prepare("SELECT value, seal FROM metadata WHERE key = ?1")?;
        let found = statement.query_row(params![name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((value, sealed)): Option<(String, i64)> = found else { return Ok(None) };
        if sealed == seal(name, &value) {
            return Ok(Some(value));
        }
        self.altered_metadata.borrow_mut().insert(name.to_owned());
        Ok(None)
    }

    /// Returns what a metadata row says in JSON; `None` where there is no such row, or its value does not read as that type.
    pub fn json_metadata<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        Ok(self.metadata(name)?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Sets a metadata row.
    pub fn set_metadata(&self, name: &str, value: &str) -> Result<()> {
        if kind_of(name).is_none() {
            return Err(Error::failed(format!("`{name}` is no kind of fact")));
        }
        self.conn.execute_batch("SAVEPOINT fact")?;
        self.exchange_seal(name, seal(name, value))?;
        self.put(name, value)?;
        self.conn.execute_batch("RELEASE fact")?;
        Ok(())
    }

    /// Deletes a metadata row.
    pub fn delete_metadata(&self, name: &str) -> Result<()> {
        self.conn.execute_batch("SAVEPOINT fact")?;
        self.exchange_seal(name, 0)?;
        self.conn.execute("DELETE FROM metadata WHERE key = ?1", params![name])?;
        self.conn.execute_batch("RELEASE fact")?;
        Ok(())
    }

    fn put(&self, name: &str, value: &str) -> Result<()> {
        let put = "REPLACE INTO metadata (key, value, seal) VALUES (?1, ?2, ?3)";
        self.prepare(put)?.execute(params![name, value, seal(name, value)])?;
        Ok(())
    }

    /// Takes the seal of a metadata row as it is out of those of all, and another one in.
    fn exchange_seal(&self, name: &str, sealed: i64) -> Result<()> {
        if !is_checked(name) {
            return Ok(());
        }
        let before = self.metadata(name)?.map_or(0, |value| seal(name, &value));
        self.put(SEALS.stem, &(self.seals()?.unwrap_or_default() ^ before ^ sealed).to_string())
    }

    /// Returns the seals of all metadata rows that are checked at once, as Fusebox has written them.
    fn seals(&self) -> Result<Option<i64>> {
        Ok(self.metadata(SEALS.stem)?.and_then(|text| text.parse().ok()))
    }

    /// Returns what is wrong with the metadata rows, but for those there may be a great many of.
    pub fn metadata_faults(&self) -> Result<MetadataFaults> {
        let (mut faults, mut seals) = (MetadataFaults::default(), 0);
        let many = metadata::METADATA_KINDS.iter().filter(|kind| kind.is_many);
        let ends = many.flat_map(|kind| [kind.stem.to_owned(), format!("{}\u{10ffff}", kind.stem)]);
        // What lies between those kinds, in the order of names.
        let mut ends: Vec<String> = [String::new(), "\u{10ffff}".to_owned()].into_iter().chain(ends).collect();
        ends.sort_unstable();
        for range in ends.chunks(2) {
            self.check_metadata(&range[0], &range[range.len() - 1], |name, sealed| match sealed {
                Some(_) if name == SEALS.stem => {}
                Some(sealed) => seals ^= sealed,
                None => faults.altered.push(name),
            })?;
        }
        // A new state has it from its beginning.
        faults.lacks_some = self.seals()? != Some(seals);
        Ok(faults)
    }

    /// Whether rows may be an earlier version's, which have no seals.
    pub fn has_earlier_rows(&self) -> Result<bool> {
        Ok(self.metadata(metadata::EARLIER_ROWS.stem)?.is_some())
    }

    /// Returns the names of all metadata rows that another program has written.
    pub fn altered_metadata(&self) -> Result<Vec<String>> {
        let mut altered = Vec::new();
        for kind in metadata::METADATA_KINDS.iter().filter(|kind| kind.is_many) {
            self.check_metadata(kind.stem, &kind.of("\u{10ffff}"), |name, sealed| {
                altered.extend(sealed.is_none().then_some(name));
            })?;
        }
        altered.extend(self.metadata_faults()?.altered);
        Ok(altered)
    }

    /// Gives to `take` the metadata rows from a name up to another, each with its seal where that is right.
    fn check_metadata(&self, from: &str, to: &str, mut take: impl FnMut(String, Option<i64>)) -> Result<()> {
        let some = "SELECT key, value, seal FROM metadata WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
        let mut statement = self.prepare(some)?;
        let mut rows = statement.query(params![from, to, column(MOST)])?;
        while let Some(row) = rows.next()? {
            let (name, value, sealed): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let sealed = Some(sealed).filter(|sealed| *sealed == seal(&name, &value));
            take(name, sealed);
        }
        Ok(())
    }

    /// Takes the metadata rows as they are for all that there are, once the person is told that one is gone.
    pub fn accept_metadata_as_it_is(&self) -> Result<()> {
        seal_sum(&self.conn)
    }

    /// Deletes the metadata rows that another program has written; returns how many.
    pub fn delete_altered_metadata(&self) -> Result<u64> {
        let altered = self.altered_metadata()?;
        altered.iter().try_for_each(|name| self.delete_metadata(name))?;
        Ok(altered.len() as u64)
    }

    /// Returns the names of the metadata rows that were read and not believed, and forgets them.
    pub fn take_altered_metadata(&self) -> Vec<String> {
        std::mem::take(&mut *self.altered_metadata.borrow_mut()).into_iter().collect()
    }

    /// Returns some of the metadata rows whose names begin with `prefix`, by name: the rest of the name, and the value. They come after
    /// the one whose name ends with `after`. Those that another program has written are left out, and remembered as that.
    pub fn some_metadata(&self, prefix: &str, after: &str, most: u64) -> Result<Vec<(String, String)>> {
        let some = format!("SELECT key, value, seal FROM metadata {BELOW} ORDER BY key LIMIT ?3");
        let mut statement = self.prepare(&some)?;
        let mut rows = statement.query(params![prefix, after, column(most.max(MOST))])?;
        let (mut found, most) = (Vec::new(), usize::try_from(most).unwrap_or(usize::MAX));
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            let (name, value, sealed): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if sealed != seal(&name, &value) {
                self.altered_metadata.borrow_mut().insert(name);
            } else if let Some(rest) = name.strip_prefix(prefix) {
                found.push((rest.to_owned(), value));
            }
        }
        Ok(found)
    }

    /// Returns the client processes that sessions were pinned by in a boot, with their start times: by the metadata rows about them, and by
    /// the open sessions, since metadata rows may be gone.
    pub fn clients(&self, boot: u64) -> Result<Vec<(u32, u64)>> {
        let client = |(name, _): &(String, String)| {
            let mut parts = name.split(':');
            let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let boot_of_client: u64 = parts.next()?.parse().ok()?;
            (boot_of_client == boot).then_some((pid, start))
        };
        let mut clients: Vec<(u32, u64)> =
            self.some_metadata(metadata::CLIENT.stem, "", u64::MAX)?.iter().filter_map(client).collect();
        let open = self.open_sessions()?.into_iter().filter(|session| session.last.boot == boot);
        clients.extend(open.filter_map(|session| session.client).map(|client| (client.pid, client.start)));
        Ok(clients)
    }
}
