//! Transcripts beside a session's own: of clients that asked the model in the same folder.

use std::path::Path;

use crate::platform::file_info;
use crate::platform::files::{self, Entries, Entry};
use crate::transcript::ending::last_response_ms;

/// How many entries of the folder are looked at: an agent may fill it.
const MOST_ENTRIES: usize = 20_000;

/// How many transcripts are read at once.
const MOST_READ: usize = 64;

/// How much earlier than it happens a change may be stamped, in nanoseconds: Linux stamps with the last tick of its timer, FAT counts in
/// two seconds. Rows have exact times: this only chooses which files are read.
const STAMPED_EARLY_NS: u64 = 2_000_000_000;

/// What was found beside a session's own transcript.
pub struct Beside {
    /// The sessions whose models have answered.
    pub answered: Vec<String>,
    /// Whether there is more than is looked at.
    pub has_more: bool,
}

/// Finds the sessions beside one's own whose models have answered since a moment (milliseconds since 1970), but for those that are
/// known.
pub fn answered_since(own: &Path, since_ms: i64, is_known: impl Fn(&str) -> bool) -> Beside {
    let listed = own.parent().and_then(|folder| files::entries(folder, MOST_ENTRIES).ok());
    let Some(Entries { found, mut has_more }) = listed else { return Beside { answered: Vec::new(), has_more: false } };
    let is_other = |entry: &Entry| !entry.is_folder && entry.path != own;
    let others = found.into_iter().filter(is_other).filter_map(|entry| Some((session_of(&entry.path)?, entry.path)));
    let mut changed = others.filter(|(_, path)| has_changed_since(path, since_ms)).filter(|(id, _)| !is_known(id));
    let has_answered = |path: &Path| last_response_ms(path).is_ok_and(|at| at.is_some_and(|at| at >= since_ms));
    let read: Vec<_> = changed.by_ref().take(MOST_READ).collect();
    has_more |= changed.next().is_some();
    let answered = read.into_iter().filter(|(_, path)| has_answered(path)).map(|(id, _)| id).collect();
    Beside { answered, has_more }
}

/// The id of the session that a transcript is of: its name.
pub fn session_of(path: &Path) -> Option<String> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Whether a file has changed since a moment, as far as its stamp tells.
pub fn has_changed_since(path: &Path, since_ms: i64) -> bool {
    let since_ns = u64::try_from(since_ms).unwrap_or(0).saturating_mul(1_000_000).saturating_sub(STAMPED_EARLY_NS);
    file_info::of_itself(path).is_ok_and(|info| info.is_file() && info.modified_ns >= since_ns)
}
