//! The settings files of a project, as they are now.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::stored::stable_hash;
use crate::install::json;
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::platform::files;

/// The largest settings file that is read, in bytes: client 2.1.332 reads one of 1.9 MB, and none of 3 MB.
const LARGEST: u64 = 3 << 20;
/// The largest file of what the client remembers that is read, in bytes: it holds every project's history.
const LARGEST_REMEMBERED: u64 = 32 << 20;

/// How settings on a client's command line are called.
pub const SAID: &str = "--settings";

/// One settings file as it is now.
pub struct Settings {
    /// Where it is.
    pub place: SettingsPlace,
    /// Its text; empty where it is missing or cannot be read.
    pub text: String,
    /// A hash of what is there where it cannot be read: too much, a folder, no JSON. The client may read it all the same.
    pub unread: Option<u64>,
}

/// Reads all settings files, the one that the client lets win last. What the client remembers comes first, as far as it sets.
pub fn read(folders: &Folders) -> Vec<Settings> {
    let remembered = folders.remembered.iter().map(|path| read_remembered(path));
    remembered.chain(folders.places().into_iter().map(read_one)).collect()
}

/// Reads the variables that a file of what the client remembers sets: nothing else in it is a setting.
fn read_remembered(path: &Path) -> Settings {
    let place = SettingsPlace { scope: InstallScope::User, settings: path.to_path_buf(), folder: path.to_path_buf() };
    let (text, unread) = match files::text(path, LARGEST_REMEMBERED) {
        Ok(text) if json::check(&text).is_ok() => (text, None),
        Err(cause) if cause.kind() == io::ErrorKind::FileTooLarge => (String::new(), Some(LARGEST_REMEMBERED)),
        // What is no JSON is none to the client either, or is being written.
        _ => (String::new(), None),
    };
    let variables = json::root(&text).and_then(|root| json::member(&text, &root, "env"));
    let text = variables.map(|span| format!("{{\"env\":{}}}", &text[span])).unwrap_or_default();
    Settings { place, text, unread }
}

/// Puts settings of a command line where the client has them: only managed ones win over them.
pub fn beside(mut files: Vec<Settings>, named: Vec<Settings>) -> Vec<Settings> {
    let managed = files.iter().position(|file| file.place.scope == InstallScope::Managed).unwrap_or(files.len());
    files.splice(managed..managed, named);
    files
}

/// Reads a file that a client is told to take its settings from, beside its own.
pub fn read_named(path: &Path) -> Settings {
    read_one(SettingsPlace { scope: InstallScope::Local, settings: path.to_path_buf(), folder: path.to_path_buf() })
}

/// Takes settings that stand on a client's command line.
pub fn said(text: &str) -> Settings {
    let place = SettingsPlace { scope: InstallScope::Local, settings: SAID.into(), folder: PathBuf::new() };
    let text = if json::check(text).is_ok() { text.to_owned() } else { String::new() };
    Settings { place, text, unread: None }
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
