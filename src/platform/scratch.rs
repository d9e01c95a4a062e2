//! A folder for as long as a command runs.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// A temporary folder of this user's alone, which goes with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Makes one.
    pub fn make() -> io::Result<Scratch> {
        Ok(Scratch { folder: tempfile::tempdir()? })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
