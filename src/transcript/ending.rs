//! The last of a transcript's rows about the model: when it answered, or that a request failed.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::path::Path;

use crate::byte_search;
use crate::transcript::open;
use crate::transcript::row::{self, Row};

/// The end of a transcript that is searched, in bytes.
const REACH: u64 = 256 << 10;

/// How many responses show a client that asks no hook: an event lies between one response and the next.
pub const UNASKED: usize = 2;

/// What each such row has.
const ABOUT_THE_MODEL: &[u8] = b"\"assistant\"";

/// Returns what the last row that is of interest says.
fn last<T>(path: &Path, says: impl Fn(&Row) -> Option<T>) -> io::Result<Option<T>> {
    let end = end(path)?;
    Ok(lines_about_the_model(&end).find_map(|line| {
        let mut replaced = Vec::new();
        model_row(line, &mut replaced).and_then(|row| says(&row))
    }))
}

/// Reads the end of a transcript.
fn end(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, length) = open(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut end = Vec::new();
    file.take(REACH).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the lines that may be about the model, the last one first.
fn lines_about_the_model(end: &[u8]) -> impl Iterator<Item = &[u8]> {
    end.rsplit(|byte| *byte == b'\n').filter(|line| byte_search::find(ABOUT_THE_MODEL, line).is_some())
}

fn model_row<'a>(line: &'a [u8], replaced: &'a mut Vec<u8>) -> Option<Row<'a>> {
    row::parse(line, replaced).ok().filter(|row| row.kind.0 == "assistant")
}

/// Returns when the model last answered in this session, in milliseconds since 1970. A branch begins with copies of what it answered in
/// another one.
pub fn last_response_ms(path: &Path) -> io::Result<Option<i64>> {
    let is_own = |row: &Row| row.is_a_models() && !row.is_copied();
    last(path, |row| is_own(row).then(|| row.at_ms()).flatten())
}

/// Returns how many responses a transcript's end has that the model has given since a moment, in milliseconds since 1970.
pub fn responses_since(path: &Path, since_ms: i64) -> io::Result<usize> {
    responses_within(path, since_ms..=i64::MAX)
}

/// Returns how many responses a transcript's end has that the model has given in a time, in milliseconds since 1970.
pub fn responses_within(path: &Path, time: RangeInclusive<i64>) -> io::Result<usize> {
    let (end, mut ids) = (end(path)?, BTreeSet::new());
    for line in lines_about_the_model(&end) {
        let mut replaced = Vec::new();
        let row = model_row(line, &mut replaced)
            .filter(|row| row.is_a_models() && row.at_ms().is_some_and(|at_ms| time.contains(&at_ms)));
        ids.extend(row.as_ref().and_then(Row::message).map(|message| message.id().into_owned()));
    }
    Ok(ids.len())
}

/// Whether the last thing that the client has written of the model is that a request failed, at this moment or later.
pub fn is_of_a_failure(path: &Path, since_ms: i64) -> bool {
    let is_later = |row: &Row| row.at_ms().is_some_and(|at_ms| at_ms >= since_ms);
    last(path, |row| Some(row.is_of_a_failure() && is_later(row))).is_ok_and(|fails| fails == Some(true))
}
