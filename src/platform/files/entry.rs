//! One thing in a folder.

use std::path::PathBuf;

/// What stands in a folder.
pub struct Entry {
    /// Its path: the folder's with its name.
    pub path: PathBuf,
    /// Whether it is a folder itself; a link to one is none.
    pub is_folder: bool,
}
