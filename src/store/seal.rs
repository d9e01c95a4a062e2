//! A seal on a row: a hash of its columns and its JSON, kept at the end of that JSON.
//!
//! A program that changes a row by SQL breaks its seal. The hash has no key, so a program that computes it anew is not found out.
//! A row without a seal was written by an earlier version, or by another program: whoever loads it decides.

use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

use crate::domain::stored::stable_hash::StableHash;
use crate::error::Result;

/// What stands before the seal: the last field of the JSON.
const FIELD: &str = ",\"seal\":";
/// The longest seal in JSON: the field, ten digits, the closing brace.
const MOST: usize = FIELD.len() + 11;

/// The hash of a row's columns without its JSON.
#[derive(Clone, Copy, Default)]
pub(super) struct ColumnsHash(StableHash);

impl ColumnsHash {
    /// Hashes the values that are about to be written, without the one at `json`.
    pub fn of_values(values: &[&dyn ToSql], json: usize) -> Result<ColumnsHash> {
        let mut hash = ColumnsHash::default();
        for value in values.iter().enumerate().filter(|(at, _)| *at != json).map(|(_, value)| value) {
            hash = match &value.to_sql()? {
                ToSqlOutput::Borrowed(value) => hash.value(*value),
                ToSqlOutput::Owned(value) => hash.value(value.into()),
                _ => hash,
            };
        }
        Ok(hash)
    }

    /// Hashes the columns of a row in the order in which they are written, without the one at `json`.
    pub fn of_row(row: &Row, columns: usize, json: usize) -> Result<ColumnsHash> {
        let mut hash = ColumnsHash::default();
        for at in (0..columns).filter(|at| *at != json) {
            hash = hash.value(row.get_ref(at)?);
        }
        Ok(hash)
    }

    fn value(self, value: ValueRef) -> ColumnsHash {
        ColumnsHash(match value {
            ValueRef::Integer(number) => self.0.number(number.cast_unsigned()),
            ValueRef::Text(text) => self.0.number(text.len() as u64).bytes(text),
            _ => self.0.bytes(b"-"),
        })
    }

    /// Adds the hash of a set of limits, which its column only names by a number.
    pub fn and(self, content: u64) -> ColumnsHash {
        ColumnsHash(self.0.number(content))
    }

    /// Returns the seal of a row with this JSON: 32 bits, which every reader of JSON keeps whole.
    fn seal(self, json: &[u8]) -> u64 {
        self.0.bytes(json).value() >> 32
    }

    /// Puts the seal into a row's JSON. A row that was changed before gets a broken one, so that this stays known.
    pub fn put(self, mut json: String, is_altered: bool) -> String {
        let seal = self.seal(json.as_bytes()) ^ u64::from(is_altered);
        // An empty object says nothing that could be changed.
        if json.len() > 2 && json.ends_with('}') {
            json.pop();
            json.push_str(&format!("{FIELD}{seal}}}"));
        }
        json
    }

    /// Whether a row's JSON has a seal that is broken.
    pub fn is_broken(self, json: &[u8]) -> bool {
        let Some(at) = find(json) else { return false };
        let (head, tail) = json.split_at(at);
        let digits = tail[FIELD.len()..].strip_suffix(b"}");
        let seal = digits.and_then(|digits| str::from_utf8(digits).ok()).and_then(|digits| digits.parse::<u64>().ok());
        seal != Some(ColumnsHash(self.0.bytes(head)).seal(b"}"))
    }
}

/// Whether a row's JSON has a seal, whatever it says.
pub(super) fn is_sealed(json: &[u8]) -> bool {
    find(json).is_some()
}

/// Returns where the seal of a row's JSON begins.
fn find(json: &[u8]) -> Option<usize> {
    let from = json.len().saturating_sub(MOST);
    json[from..].windows(FIELD.len()).position(|bytes| bytes == FIELD.as_bytes()).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_broken_by_every_byte_that_changes() {
        let hash = ColumnsHash::default().value(ValueRef::Integer(3)).and(7);
        let sealed = hash.put(r#"{"a":1,"b":"two"}"#.to_owned(), false);
        assert!(!hash.is_broken(sealed.as_bytes()), "{sealed}");
        assert!(hash.and(1).is_broken(sealed.as_bytes()));
        let end = sealed.rfind(FIELD).unwrap();
        for at in (0..end).chain(end + FIELD.len()..sealed.len()) {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(hash.is_broken(&bytes), "{at} of {sealed}");
        }
        assert!(hash.is_broken(hash.put(r#"{"a":1}"#.to_owned(), true).as_bytes()));
        assert!(!hash.is_broken(br#"{"a":1}"#), "an earlier version has written it");
    }
}
