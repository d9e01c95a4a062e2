//! The client's transcripts: reading what is new.

mod field;
pub mod intake;
pub mod layout;
mod lines;
pub mod recall;
mod row;
pub mod tail;

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file to read and returns its length. Anything else under the path is an error, and never a wait: a
/// pipe laid there would hold the hook for ever.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if meta.is_file() {
        Ok((file, meta.len()))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}
