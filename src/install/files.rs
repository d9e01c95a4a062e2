//! Files read and written whole, as a change that can be shown before it is made.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::{atomic_file, changes, files};

/// The largest file that is read whole, in bytes.
const LARGEST: u64 = 16 << 20;

/// One file, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its content now; none where there is no file.
    pub before: Option<String>,
    /// Its content to be; none to remove it.
    pub after: Option<String>,
}

impl Change {
    /// Whether it does anything.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Carries it out.
    pub fn apply(&self) -> Result<()> {
        match &self.after {
            _ if !self.is_change() => Ok(()),
            Some(text) => write(&self.path, text),
            None => remove(&self.path),
        }
    }
}

/// Reads a file; none where there is none.
pub fn read(path: &Path) -> Result<Option<String>> {
    match files::bytes(path, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            Error::failed(format!("`{}` is not UTF-8 text", path.display()))
                .hint("write it as UTF-8; it was left as it is")
        }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::file("read", path, cause)),
    }
}

/// Removes a file that may be there.
pub fn remove(path: &Path) -> Result<()> {
    match changes::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", path, cause)),
        _ => Ok(()),
    }
}

/// Writes a file, with the folders it needs.
pub fn write(path: &Path, text: &str) -> Result<()> {
    atomic_file::replace(path, text, 0o666).map_err(|cause| Error::file("write", path, cause))
}

/// Writes a file that only its owner may read, with the folders it needs.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    atomic_file::replace(path, text, 0o600).map_err(|cause| Error::file("write", path, cause))
}
