//! The main transcripts in the client's folder that have changed of late.

use std::path::{Path, PathBuf};

use crate::platform::files::{self, Entry};
use crate::transcript::unwatched::{has_changed_since, session_of};

/// How many entries of a folder are looked at: an agent may fill it.
const MOST_ENTRIES: usize = 20_000;

/// Finds the main transcripts in the folders of projects that have changed since a moment (milliseconds since 1970), each with the id of
/// its session.
pub fn changed_since(projects: &Path, since_ms: i64) -> impl Iterator<Item = (String, PathBuf)> {
    let folders = entries(projects).into_iter().filter(|entry| entry.is_folder);
    let all = folders.flat_map(|folder| entries(&folder.path)).filter(|entry| !entry.is_folder);
    let named = all.filter_map(|entry| Some((session_of(&entry.path)?, entry.path)));
    named.filter(move |(_, path)| has_changed_since(path, since_ms))
}

fn entries(folder: &Path) -> Vec<Entry> {
    files::entries(folder, MOST_ENTRIES).map(|listed| listed.found).unwrap_or_default()
}
