//! The last of a transcript's rows about the model: when it answered, or that a request failed.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::byte_search;
use crate::transcript::open;
use crate::transcript::row::{self, Row};

/// The end of a transcript that is searched, in bytes.
const REACH: u64 = 256 << 10;

/// What each such row has.
const ABOUT_THE_MODEL: &[u8] = b"\"assistant\"";

/// Returns what the last row that is of interest says.
fn last<T>(path: &Path, says: impl Fn(&Row) -> Option<T>) -> io::Result<Option<T>> {
    let (mut file, length) = open(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut end = Vec::new();
    file.take(REACH).read_to_end(&mut end)?;
    let mut lines = end.rsplit(|byte| *byte == b'\n').filter(|line| byte_search::find(ABOUT_THE_MODEL, line).is_some());
    Ok(lines.find_map(|line| {
        let mut mended = Vec::new();
        row::parse(line, &mut mended).ok().filter(|row| row.kind.0 == "assistant").and_then(|row| says(&row))
    }))
}

/// Returns when the model last answered, in milliseconds since 1970.
pub fn last_response_ms(path: &Path) -> io::Result<Option<i64>> {
    last(path, |row| row.is_a_models().then(|| row.at_ms()).flatten())
}

/// Whether the last thing that the client has written of the model is that a request failed, at this moment or later.
pub fn is_of_a_failure(path: &Path, since_ms: i64) -> bool {
    let is_later = |row: &Row| row.at_ms().is_some_and(|at_ms| at_ms >= since_ms);
    last(path, |row| Some(row.is_of_a_failure() && is_later(row))).is_ok_and(|fails| fails == Some(true))
}
