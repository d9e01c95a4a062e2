//! Transcripts beside a session's own: of clients that asked the model in the same folder.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::byte_search;
use crate::platform::file_info;
use crate::platform::files::{self, Entry};
use crate::transcript::open;
use crate::transcript::row::{self, Row};

/// How many entries of the folder are looked at: an agent may fill it.
const MOST_ENTRIES: usize = 20_000;

/// How many transcripts are read at once.
const MOST_READ: usize = 64;

/// The end of a transcript that is searched for a response, in bytes.
const REACH: u64 = 256 << 10;

/// What every response's row has.
const RESPONSE: &[u8] = b"\"assistant\"";

/// Returns the ids of the sessions beside one's own whose models have answered since a moment (milliseconds since 1970), but for
/// those that are known.
pub fn answered_since(own: &Path, since_ms: i64, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(Ok(entries)) = own.parent().map(|folder| files::entries(folder, MOST_ENTRIES)) else { return Vec::new() };
    let is_other = |entry: &Entry| !entry.is_folder && entry.path != own;
    let others =
        entries.found.into_iter().filter(is_other).filter_map(|entry| Some((session_of(&entry.path)?, entry.path)));
    let changed = others.filter(|(_, path)| has_changed_since(path, since_ms)).filter(|(id, _)| !is_known(id));
    let answered =
        |(_, path): &(String, PathBuf)| last_response_ms(path).is_ok_and(|at| at.is_some_and(|at| at >= since_ms));
    changed.take(MOST_READ).filter(answered).map(|(id, _)| id).collect()
}

/// The id of the session that a transcript is of: its name.
fn session_of(path: &Path) -> Option<String> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

fn has_changed_since(path: &Path, since_ms: i64) -> bool {
    let since_ns = u64::try_from(since_ms).unwrap_or(0).saturating_mul(1_000_000);
    file_info::of_itself(path).is_ok_and(|info| info.is_file() && info.modified_ns >= since_ns)
}

/// Returns when the model last answered, by the end of a transcript.
fn last_response_ms(path: &Path) -> io::Result<Option<i64>> {
    let (mut file, length) = open(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut end = Vec::new();
    file.take(REACH).read_to_end(&mut end)?;
    let mut lines = end.rsplit(|byte| *byte == b'\n').filter(|line| byte_search::find(RESPONSE, line).is_some());
    Ok(lines.find_map(|line| {
        let mut mended = Vec::new();
        let row: Row = row::parse(line, &mut mended).ok()?;
        row.is_a_models().then(|| row.at_ms()).flatten()
    }))
}
