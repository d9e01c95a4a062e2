//! What Windows tells of a file beside what all systems do: it has to be opened for that.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::{Metadata, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::platform::file_info::own::{Asked, Own};
use crate::platform::file_info::windows_paths;
use crate::platform::windows::{self, FileIdentity, OPENS_FOLDERS, OPENS_LINKS};

/// The modes that stand for "its owner's alone": what the profile's access lists say is not read.
const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// The names of a file whose names the system does not count: more than one, so that nobody writes to it.
const UNKNOWN_NAMES: u64 = u64::MAX;

/// Returns what the system tells of a file in its own way.
pub fn own(meta: &Metadata, asked: Asked<'_>) -> Own {
    let identity = match asked {
        Asked::Path(path) => identity(path, OPENS_FOLDERS),
        Asked::Itself(path) => identity(path, OPENS_FOLDERS | OPENS_LINKS),
        Asked::File(file) => windows::identity(file),
    };
    let unknown = FileIdentity { names: UNKNOWN_NAMES, place: (0, 0) };
    let FileIdentity { names, place } = identity.unwrap_or(unknown);
    Own { mode: if meta.is_dir() { FOLDER } else { FILE }, owner: 0, names, place, changed_ns: 0 }
}

/// Whether this user may write to a file, or change a folder: who may do what is not read here.
pub fn is_writable(_path: &Path) -> bool {
    true
}

fn identity(path: &Path, flags: u32) -> Option<FileIdentity> {
    // Without any right: only what the file is.
    let file = OpenOptions::new().access_mode(0).custom_flags(flags).open(path).ok()?;
    windows::identity(&file)
}

/// Returns a path as other programs take it: without the `\\?\` that the system writes before a real one.
pub fn plain(path: PathBuf) -> PathBuf {
    path.to_str().map(windows_paths::plain).map_or(path.clone(), PathBuf::from)
}
