//! What the file system says of a path, without opening it.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

mod own;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(any(windows, test))]
mod windows_paths;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use own::{Asked, Own};

/// Whether this user may write to a file, or change a folder.
pub use system::is_writable;
#[cfg(windows)]
pub use windows_paths::is_device;

/// Whether a file's mode and owner say who may change it. Windows has lists for that, which are not read.
pub const TELLS_WHO_MAY_WRITE: bool = cfg!(unix);

/// What lies under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, where it is not followed.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

/// What is known of a file or folder.
#[derive(Clone, Copy, Debug)]
pub struct FileInfo {
    /// What it is.
    pub kind: Kind,
    /// Its length, in bytes.
    pub length: u64,
    /// Who may do what with it. Windows has no such bits: there it is its owner's alone, as the profile's folders are.
    pub mode: u32,
    /// The id of the user that it belongs to; that of this process on Windows, which has no such numbers.
    pub owner: u32,
    /// How many names it has.
    pub names: u64,
    /// The device and the inode that it is kept at.
    pub place: (u64, u64),
    /// When it was changed, in nanoseconds since 1970; 0 where that is not known.
    pub modified_ns: u64,
    /// When it, its mode or its name was changed, in nanoseconds since 1970; 0 on Windows, which does not tell.
    pub changed_ns: u64,
    /// When it was made, in nanoseconds since 1970; 0 where that is not known.
    pub created_ns: u64,
}

impl FileInfo {
    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    /// Whether it is a link.
    pub fn is_link(&self) -> bool {
        self.kind == Kind::Link
    }
}

/// What tells one state of what lies under a path from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    place: (u64, u64),
    length: u64,
    modified_ns: u64,
    changed_ns: u64,
}

/// Returns the state of what lies under a path, links followed; `None` where nothing does, or it cannot be looked at.
pub fn version(path: &Path) -> Option<FileVersion> {
    let FileInfo { place, length, modified_ns, changed_ns, .. } = of(path).ok()?;
    Some(FileVersion { place, length, modified_ns, changed_ns })
}

fn info(meta: &Metadata, own: Own) -> FileInfo {
    let kind = match meta.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    let Own { mode, owner, names, place, changed_ns } = own;
    FileInfo {
        kind,
        length: meta.len(),
        mode,
        owner,
        names,
        place,
        modified_ns: nanoseconds(meta.modified()),
        changed_ns,
        created_ns: nanoseconds(meta.created()),
    }
}

fn nanoseconds(time: io::Result<SystemTime>) -> u64 {
    let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns what is known of what a path leads to, links followed.
pub fn of(path: &Path) -> io::Result<FileInfo> {
    let meta = fs::metadata(path)?;
    Ok(info(&meta, system::own(&meta, Asked::Path(path))))
}

/// Returns what is known of what lies under a path itself: a link is not followed.
pub fn of_itself(path: &Path) -> io::Result<FileInfo> {
    let meta = fs::symlink_metadata(path)?;
    Ok(info(&meta, system::own(&meta, Asked::Itself(path))))
}

/// Returns what is known of an open file.
pub fn of_file(file: &File) -> io::Result<FileInfo> {
    let meta = file.metadata()?;
    Ok(info(&meta, system::own(&meta, Asked::File(file))))
}

/// Whether a path leads to a regular file.
pub fn is_file(path: &Path) -> bool {
    of(path).is_ok_and(|meta| meta.is_file())
}

/// Whether a path leads to a folder.
pub fn is_folder(path: &Path) -> bool {
    of(path).is_ok_and(|meta| meta.is_folder())
}

/// Whether a path leads to anything.
pub fn exists(path: &Path) -> bool {
    fs::exists(path).unwrap_or(false)
}

/// Whether a path surely leads nowhere.
pub fn is_gone(path: &Path) -> bool {
    !fs::exists(path).unwrap_or(true)
}

/// Returns a path without links and without `..`.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(system::plain)
}

/// Whether two paths lead to the same place.
pub fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((real_path(one), real_path(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns what a link names.
pub fn link_target(path: &Path) -> io::Result<PathBuf> {
    fs::read_link(path)
}
