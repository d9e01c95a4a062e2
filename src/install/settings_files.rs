//! The settings files of a project, as they are now.

use std::path::Path;

use crate::install::json;
use crate::install::place::{Folders, SettingsPlace};
use crate::platform::files;

/// The largest settings file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// One settings file as it is now.
pub struct Settings {
    /// Where it is.
    pub place: SettingsPlace,
    /// Its text; empty where it is missing or no JSON.
    pub text: String,
}

/// Reads all settings files, the one that the client lets win last.
pub fn read(folders: &Folders) -> Vec<Settings> {
    let places = folders.places().into_iter();
    places.map(|place| Settings { text: valid_text(&place.settings), place }).collect()
}

fn valid_text(path: &Path) -> String {
    files::text(path, LARGEST).ok().filter(|text| json::check(text).is_ok()).unwrap_or_default()
}
