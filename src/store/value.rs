//! What columns hold: JSON texts, and numbers that saturate.

use rusqlite::Row;
use rusqlite::types::FromSql;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::error::{Error, Result};
use crate::store::damaged::damaged;

/// Writes a value as JSON; `what` names it in an error.
pub(super) fn to_json<T: Serialize>(what: &str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::failed(format!("{what} cannot be written: {cause}")))
}

/// The columns of a row, read one after the other in the order of the statement: to find each by its name would cost a hook a
/// twentieth of its work.
pub(super) struct Columns<'a, 'stmt> {
    row: &'a Row<'stmt>,
    at: usize,
}

impl<'a, 'stmt> Columns<'a, 'stmt> {
    /// Begins with the first column of a row.
    pub fn of(row: &'a Row<'stmt>) -> Columns<'a, 'stmt> {
        Columns { row, at: 0 }
    }

    /// Begins with a later column.
    pub fn from(row: &'a Row<'stmt>, at: usize) -> Columns<'a, 'stmt> {
        Columns { row, at }
    }

    /// Reads the next column.
    pub fn read<T: FromSql>(&mut self) -> Result<T> {
        self.at += 1;
        Ok(self.row.get(self.at - 1)?)
    }

    /// Reads a count from the next column.
    pub fn count(&mut self) -> Result<u64> {
        Ok(u64::try_from(self.read::<i64>()?).unwrap_or(0))
    }

    /// Reads what was spent from the next four columns: requests, tokens, cache reads and cost.
    pub fn spend(&mut self) -> Result<Spend> {
        let (requests, tokens) = (self.count()?, self.count()?);
        Ok(Spend { requests, tokens, cache_reads: self.count()?, cost: Amount(self.count()?) })
    }

    /// Reads the next column, which names one of `all`; `what` names the row in an error.
    pub fn one_of<T: Copy>(&mut self, what: &str, all: &[T], name_of: fn(T) -> &'static str) -> Result<T> {
        let name = self.text()?;
        let unknown = || {
            Error::failed(format!(
                "the state of {what} cannot be read: `{}` is not known",
                String::from_utf8_lossy(name)
            ))
            .hint("install the newest fusebox, which may have written it")
        };
        all.iter().copied().find(|it| name_of(*it).as_bytes() == name).ok_or_else(unknown)
    }

    /// Reads JSON from the next column; `what` names the row in an error.
    pub fn json<T: DeserializeOwned>(&mut self, what: &str) -> Result<T> {
        let text = self.text()?;
        // Looked at once as a whole: of bytes, each string in them would be.
        str::from_utf8(text).map_err(serde_json::Error::custom).and_then(serde_json::from_str).map_err(|cause| {
            // JSON that is not of our form may be a newer version's.
            let cause = format!("the state of {what} cannot be read: {cause}");
            match is_json(text) {
                true => Error::failed(cause).hint("install the newest fusebox, which may have written it"),
                false => damaged(cause),
            }
        })
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        self.at += 1;
        Ok(self.row.get_ref(self.at - 1)?.as_bytes()?)
    }
}

/// Whether a text is JSON to its last byte.
pub(super) fn is_json(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<Value>(text).is_ok())
}

/// Returns a count as a column has it: SQLite's numbers end at 2^63 - 1.
pub(super) fn column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
