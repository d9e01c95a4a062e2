//! Files of Unix systems: opened without waiting, for the other end of a pipe or for somebody who holds a lease.
//!
//! By `openat`: musl's `open` has the kernel set each new descriptor's flags a second time.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{CWD, Dir, DirEntry, FileType, Mode, OFlags, RawMode, SeekFrom, fchmod, openat, seek};
use rustix::io::{Errno, pread};

use crate::platform::files::entry::Entry;

/// Opens a regular file to read and returns its length. Anything else under the path is an error.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta.len())) } else { Err(io::Error::other("it is no regular file")) }
}

/// Lists at most so many entries of a folder, in its own order.
pub fn entries(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // The standard library panics where a folder cannot be closed.
    let listed = Dir::new(openat(CWD, folder, flags, Mode::empty())?)?;
    let named = listed.flatten().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."));
    Ok(named.take(most).map(|entry| entry_of(folder, &entry)).collect())
}

fn entry_of(folder: &Path, entry: &DirEntry) -> Entry {
    let path = folder.join(OsStr::from_bytes(entry.file_name().to_bytes()));
    let is_folder = match entry.file_type() {
        FileType::Directory => true,
        // Not every file system says it here.
        FileType::Unknown => fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()),
        _ => false,
    };
    Entry { path, is_folder }
}

/// Opens a file to lock it, without waiting for it and without following a link, and makes it where there is none.
pub fn open_to_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        other => return Ok(other.map(File::from)?),
    }
    let mode = Mode::RUSR | Mode::WUSR;
    let file = openat(CWD, path, flags | OFlags::CREATE, mode).map(File::from)?;
    // The process's mask may have taken away what the owner needs.
    fchmod(&file, mode)?;
    Ok(file)
}

/// Writes a file that must not be there yet, not even as a link. `mode` is what others than its owner may do with it.
pub fn write_new(path: &Path, mode: u32, content: impl AsRef<[u8]>) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, path, flags, Mode::from_raw_mode(mode as RawMode))?);
    file.write_all(content.as_ref())
}

/// Returns where a file has data again, from an offset on; its end where there is none. Nothing where that is not known.
pub fn next_data(file: &File, at: u64) -> Option<u64> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) => Some(data),
        Err(Errno::NXIO) => Some(u64::MAX),
        Err(_) => None,
    }
}

/// Reads on from an offset of a file into what is left of a buffer; returns how many bytes came, 0 at the file's end.
pub fn read_on(file: &File, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
    loop {
        match pread(file, spare_capacity(buffer), offset) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}
