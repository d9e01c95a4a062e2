//! Regular files, read whole and never waited for: a pipe or a device laid under their names must not hold a hook, nor fill its
//! memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file to read and returns its length. Anything else under the path is an error.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta.len())) } else { Err(io::Error::other("it is no regular file")) }
}

/// Reads the start of a text, at most so many bytes of it; what in it is no UTF-8 is replaced.
pub fn head(path: &Path, most: u64) -> io::Result<String> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or(0) + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|cause| String::from_utf8_lossy(cause.as_bytes()).into_owned()))
}

/// Reads a text of at most so many bytes; what in it is no UTF-8 is replaced.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or(0) + 1);
    // The length is not believed: files of the kernel's say zero, and a file may grow.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|cause| String::from_utf8_lossy(cause.as_bytes()).into_owned()))
}
