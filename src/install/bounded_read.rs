//! Files that an agent may write, read within what is left to be read of all of them.

use std::io::ErrorKind;
use std::path::Path;

use crate::platform::files;

/// What came of reading a file.
pub enum BoundedRead {
    /// Its text.
    As(String),
    /// It is not there, or cannot be read by anybody.
    Not,
    /// It is larger than what is read.
    TooMuch,
}

/// Reads a file of at most so many bytes, and takes its length off what is left.
pub fn read(path: &Path, largest: u64, left: &mut usize) -> BoundedRead {
    match files::text(path, largest) {
        Ok(text) if text.len() > *left => BoundedRead::TooMuch,
        Ok(text) => {
            *left -= text.len();
            BoundedRead::As(text)
        }
        Err(cause) if cause.kind() == ErrorKind::FileTooLarge => BoundedRead::TooMuch,
        Err(_) => BoundedRead::Not,
    }
}
