//! A file that may be written to: one with a single name, reached through no link.

use std::fs::File;

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
