//! What lies in a fixture, with hashes, so that every change shows.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use fusebox::domain::stored::stable_hash;

use crate::fixture::Fixture;

/// Fusebox's own folders, and what the test itself writes.
const OWN: [&str; 7] = ["live/state", "project/.claude/logs", "many", "kept", "trace", "peak", "look"];
/// Files up to this length are read, in bytes.
const HASHED: u64 = 1 << 20;

/// Describes every entry but Fusebox's own, by its path.
pub fn of(fixture: &Fixture) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    add(&fixture.path(""), "", &mut entries);
    entries
}

fn add(root: &Path, below: &str, entries: &mut BTreeMap<String, String>) {
    let Ok(found) = fs::read_dir(root.join(below)) else { return };
    for entry in found.flatten() {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let Ok(meta) = entry.path().symlink_metadata() else { continue };
        // A link in the place of a folder of its own is not its own: what it leads to is looked at where that lies.
        if OWN.contains(&name.as_str()) {
            continue;
        }
        if meta.is_dir() {
            add(root, &format!("{name}/"), entries);
        }
        entries.insert(name, describe(&entry.path(), &meta));
    }
}

fn describe(path: &Path, meta: &Metadata) -> String {
    let content = match meta.file_type() {
        kind if kind.is_symlink() => fs::read_link(path).unwrap().display().to_string(),
        kind if kind.is_file() && meta.len() <= HASHED => {
            fs::read(path).map_or_else(|cause| cause.to_string(), |content| format!("{:x}", stable_hash::of(&content)))
        }
        kind if kind.is_fifo() => "a pipe".to_owned(),
        kind if kind.is_dir() => String::new(),
        _ => format!("{} bytes, changed at {}.{}", meta.len(), meta.mtime(), meta.mtime_nsec()),
    };
    format!("{:o} {content}", meta.mode())
}

/// Returns the paths that are new, gone or other.
pub fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let new = after.iter().filter(|(path, entry)| before.get(*path) != Some(entry)).map(|(path, _)| path);
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    new.chain(gone).cloned().collect()
}
