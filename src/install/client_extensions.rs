//! Mods: code that the client loads into itself when it starts, where it can answer for every hook.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::install::place::Folders;
use crate::platform::files;

/// The most entries of a folder that are looked at: an agent may fill one.
const MOST_ENTRIES: usize = 5_000;
/// The largest description of hooks that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What the next client would load unasked, as far as it was looked at.
#[derive(Debug, Default)]
pub struct FoundExtensions {
    /// The folders of the mods, in order.
    pub mods: Vec<PathBuf>,
    /// The folders with more entries than are looked at.
    pub overfull: Vec<PathBuf>,
}

/// Finds the mods that the next client would load unasked: among the skills, or written by an agent.
pub fn found(folders: &Folders) -> FoundExtensions {
    let mut found = FoundExtensions::default();
    let mut candidates = Vec::new();
    if let Some(claude) = &folders.claude {
        candidates.extend(found.inside(&claude.join("skills")));
        for of_session in found.inside(&claude.join("dev-mods")) {
            candidates.extend(found.inside(&of_session));
        }
    }
    candidates.extend(found.inside(&folders.project.join(".claude/skills")));
    candidates.truncate(MOST_ENTRIES);
    found.mods = candidates.into_iter().filter(|it| is_mod(it)).collect();
    found.mods.sort();
    found
}

impl FoundExtensions {
    fn inside(&mut self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = files::entries(folder, MOST_ENTRIES) else { return Vec::new() };
        if entries.has_more {
            self.overfull.push(folder.to_path_buf());
        }
        entries.found.into_iter().map(|entry| entry.path).collect()
    }
}

/// Whether a folder holds a mod. A file that is too large to be read is taken for one.
pub fn is_mod(folder: &Path) -> bool {
    match files::text(&folder.join("hooks/hooks.json"), LARGEST) {
        Ok(text) => text.contains("\"modules\""),
        Err(cause) => cause.kind() == ErrorKind::FileTooLarge,
    }
}
