//! Writing below a trusted folder where an agent may have laid links: each component is opened by itself, and none is followed.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;

#[cfg(unix)]
pub use unix::Folder;
#[cfg(windows)]
pub use windows::Folder;

use crate::platform::file_info::FileInfo;

/// A file that is open to append to.
pub struct Appended {
    /// The file.
    pub file: File,
    /// Its length, in bytes.
    pub length: u64,
    /// Whether it was made just now, or was open to others until now.
    pub is_new: bool,
}

/// Says why something is not to be written to; nothing where it is a file with no other name.
pub fn oddity(meta: &FileInfo) -> Option<&'static str> {
    match meta {
        meta if meta.is_link() => Some("it is a link"),
        meta if !meta.is_file() => Some("it is no regular file"),
        // The other name may be of a file that has nothing to do with Fusebox.
        meta if meta.names > 1 => Some("the file has a second name"),
        _ => None,
    }
}
