//! The one door to files that an agent could have made: regular files only, never waited for, and bounded in size and number.
//!
//! A pipe or a device under their names must not hold a hook, nor fill its memory. `clippy.toml` forbids the other ways.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::ffi::OsStr;
use std::fs;
pub use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{Dir, DirEntry, FileType, Mode, OFlags, fchmod};
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread};

/// Opens a regular file to read and returns its length. Anything else under the path is an error.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    // Without waiting: neither for the other end of a pipe, nor for somebody who holds a lease on the file.
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

/// Reads a file of at most so many bytes.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    // The length is not believed: files of the kernel's say zero, and a file may grow.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads a text of at most so many bytes; what in it is no UTF-8 is replaced.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = bytes(path, most)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|cause| String::from_utf8_lossy(cause.as_bytes()).into_owned()))
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))
}

/// What stands in a folder.
pub struct Entry {
    /// Its path: the folder's with its name.
    pub path: PathBuf,
    /// Whether it is a folder itself; a link to one is none.
    pub is_folder: bool,
}

/// The entries of a folder.
pub struct Entries {
    /// Those that were looked at.
    pub found: Vec<Entry>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Lists at most so many entries of a folder, in its own order.
pub fn entries(folder: &Path, most: usize) -> io::Result<Entries> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // The standard library panics where a folder cannot be closed.
    let listed = Dir::new(rustix::fs::open(folder, flags, Mode::empty())?)?;
    let named = listed.flatten().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."));
    let mut found: Vec<Entry> = named.take(most.saturating_add(1)).map(|entry| entry_of(folder, &entry)).collect();
    let has_more = found.len() > most;
    found.truncate(most);
    Ok(Entries { found, has_more })
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
pub fn open_to_lock(path: &Path) -> rustix::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        other => return other.map(File::from),
    }
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::open(path, flags | OFlags::CREATE, mode).map(File::from)?;
    // The process's mask may have taken away what the owner needs.
    fchmod(&file, mode)?;
    Ok(file)
}

/// Writes a file that must not be there yet, not even as a link. `mode` is what others than its owner may do with it.
pub fn write_new(path: &Path, mode: u32, content: impl AsRef<[u8]>) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(mode))?);
    file.write_all(content.as_ref())
}

/// Returns where a file has data again, from an offset on; its end where there is none. Nothing where that is not known.
pub fn next_data(file: &File, at: u64) -> Option<u64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) => Some(data),
        Err(Errno::NXIO) => Some(u64::MAX),
        Err(_) => None,
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _unknown = (file, at);
        None
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
