//! The settings files of a project, as they are now.

use std::io;
use std::path::Path;

use crate::domain::stable_hash;
use crate::install::json;
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::platform::files;

/// The largest settings file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// One settings file as it is now.
pub struct Settings {
    /// Where it is.
    pub place: SettingsPlace,
    /// Its text; empty where it is missing or cannot be read.
    pub text: String,
    /// A hash of what is there where it cannot be read: too much, a folder, no JSON. The client may read it all the same.
    pub unread: Option<u64>,
}

/// Reads all settings files, the one that the client lets win last.
pub fn read(folders: &Folders) -> Vec<Settings> {
    let places = folders.places().into_iter();
    places.map(read_one).collect()
}

/// Reads a file that a client is told to take its settings from, beside its own.
pub fn read_at(path: &Path) -> Settings {
    read_one(SettingsPlace { scope: InstallScope::Local, settings: path.to_path_buf(), folder: path.to_path_buf() })
}

fn read_one(place: SettingsPlace) -> Settings {
    let (text, unread) = match files::text(&place.settings, LARGEST) {
        Ok(text) if json::check(&text).is_ok() => (text, None),
        Ok(text) => (String::new(), Some(stable_hash::of(text.as_bytes()))),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => (String::new(), None),
        Err(cause) => (String::new(), Some(stable_hash::of(cause.to_string().as_bytes()))),
    };
    Settings { place, text, unread }
}
