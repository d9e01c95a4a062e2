//! What columns hold: JSON texts, and numbers that saturate.

use rusqlite::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::engine::amount::Amount;
use crate::engine::meters::Spend;
use crate::error::{Error, ErrorKind, Result};

/// Writes a value as JSON; `what` names it in an error.
pub(super) fn to_json<T: Serialize>(what: &str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::failed(format!("{what} cannot be written: {cause}")))
}

/// Reads a value from a JSON column of a row; `what` names it in an error.
pub(super) fn from_json<T: DeserializeOwned>(what: &str, row: &Row, column: &str) -> Result<T> {
    let text = row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?;
    serde_json::from_slice(text).map_err(|cause| {
        // JSON that is not of our form may be a newer version's.
        let kind = if is_json(text) { ErrorKind::Failed } else { ErrorKind::Corrupt };
        Error::failed(format!("the state of {what} cannot be read: {cause}"))
            .of_kind(kind)
            .hint("a newer version of fusebox may have written it")
    })
}

/// Whether a text is JSON to its last byte.
pub(super) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<Value>(text).is_ok()
}

/// Reads a name that a table of names has.
pub(super) fn named<T: Copy>(what: &str, names: &[T], name_of: fn(T) -> &'static str, name: &str) -> Result<T> {
    let unknown = || {
        Error::failed(format!("the state of {what} cannot be read: `{name}` is not known"))
            .hint("a newer version of fusebox may have written it")
    };
    names.iter().copied().find(|it| name_of(*it) == name).ok_or_else(unknown)
}

/// Returns a count as a column has it: SQLite's numbers end at 2^63 - 1.
pub(super) fn column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the count in a column.
pub(super) fn count(row: &Row, column: &str) -> Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// Returns what was spent, from the columns of a row.
pub(super) fn spend(row: &Row) -> Result<Spend> {
    Ok(Spend {
        requests: count(row, "requests")?,
        tokens: count(row, "tokens")?,
        cache_reads: count(row, "cache_read_tokens")?,
        cost: Amount(count(row, "cost_pico_usd")?),
    })
}
