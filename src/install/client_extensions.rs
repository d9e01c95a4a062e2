//! Mods: code that the client loads into itself when it starts, where it can answer for every hook.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::install::bounded_read::{self, BoundedRead};
use crate::install::enabled_plugins::{self, Enabled, SaidOfPlugin};
use crate::install::place::Folders;
use crate::install::settings_files::Settings;
use crate::platform::{file_info, files};
use crate::wire::javascript_json;

/// The folder of the client's in which each session has one for mods.
pub const OF_SESSIONS: &str = "dev-mods";

/// The most entries of a folder that are looked at: an agent may fill one.
const MOST_ENTRIES: usize = 5_000;
/// The largest description of hooks that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The most bytes that are read of all of them.
const MOST_BYTES: usize = 4 << 20;
/// The most files of hooks that are read of one plugin.
const MOST_FILES: usize = 20;
/// What a plugin is described by.
const MANIFESTS: [&str; 2] = [".claude-plugin/plugin.json", "plugin.json"];
/// The key of hooks that names a mod's code.
const MODULES: &str = "modules";

/// What the next client would load unasked, as far as it was looked at.
#[derive(Debug, Default)]
pub struct FoundExtensions {
    /// The folders of the mods, in order.
    pub mods: Vec<PathBuf>,
    /// The folders with more entries than are looked at.
    pub overfull: Vec<PathBuf>,
}

/// Finds the mods that a client with these settings would load unasked: among the skills, written by an agent, and among the plugins
/// that the settings switch on.
pub fn found(folders: &Folders, settings: &[Settings]) -> FoundExtensions {
    let mut found = FoundExtensions::default();
    let mut candidates = Vec::new();
    if let Some(claude) = &folders.claude {
        candidates.extend(found.inside(&claude.join("skills")));
        for of_session in found.inside(&claude.join(OF_SESSIONS)) {
            candidates.extend(found.inside(&of_session));
        }
    }
    for folder in &folders.speaking {
        candidates.extend(found.inside(&folder.join(".claude/skills")));
    }
    candidates.truncate(MOST_ENTRIES);
    let (enabled, is_more) = enabled_plugins::find(folders, settings);
    found.overfull.extend(folders.plugins.clone().filter(|_| is_more));
    let unasked = candidates.into_iter().map(Enabled::at);
    let mut left = MOST_BYTES;
    found.mods = enabled.into_iter().chain(unasked).filter(|it| holds_mod(it, &mut left)).map(|it| it.folder).collect();
    found.mods.sort_unstable();
    found.mods.dedup();
    found
}

/// Finds the mods that a client would load into a session at work.
pub fn of_session(claude: Option<PathBuf>, session: &str) -> Vec<PathBuf> {
    let folder = claude.map(|claude| claude.join(OF_SESSIONS).join(session.replace(['/', '\\'], "_")));
    let Some(folder) = folder.filter(|folder| file_info::exists(folder)) else { return Vec::new() };
    let mut inside = FoundExtensions::default().inside(&folder);
    inside.retain(|path| is_mod(path));
    inside
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

/// Whether a folder holds a mod.
pub fn is_mod(folder: &Path) -> bool {
    holds_mod(&Enabled::at(folder.to_path_buf()), &mut MOST_BYTES.clone())
}

/// Whether a plugin is a mod: by its own file of hooks, or one that its manifest or its marketplace names. What is too much to be read
/// is taken for one.
fn holds_mod(plugin: &Enabled, left: &mut usize) -> bool {
    let mut named = plugin.said.hooks.clone();
    for manifest in MANIFESTS {
        match bounded_read::read(&plugin.folder.join(manifest), LARGEST, left) {
            BoundedRead::As(text) => match javascript_json::parse::<Value>(&text) {
                Some(manifest) => named.extend(SaidOfPlugin::of(&manifest).hooks),
                None => return true,
            },
            BoundedRead::Not => {}
            BoundedRead::TooMuch => return true,
        }
    }
    named.push("hooks/hooks.json".to_owned());
    let mut holds = |path: &String| match bounded_read::read(&plugin.folder.join(path), LARGEST, left) {
        BoundedRead::As(text) => names_modules(&text),
        BoundedRead::Not => false,
        BoundedRead::TooMuch => true,
    };
    named.len() > MOST_FILES || named.iter().any(&mut holds)
}

/// Whether a file of hooks names modules. Of what is no JSON the client may make something else, so its text counts.
fn names_modules(text: &str) -> bool {
    if !text.contains(MODULES) && !text.contains('\\') {
        return false;
    }
    javascript_json::parse::<Value>(text).is_none_or(|hooks| {
        hooks.get(MODULES).is_some_and(|it| !it.is_null() && it.as_array().is_none_or(|it| !it.is_empty()))
    })
}
