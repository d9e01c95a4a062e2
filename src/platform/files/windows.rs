//! Files of Windows: no device, no pipe, and where it matters no link.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::platform::file_info::is_device;
use crate::platform::files::entry::Entry;
use crate::platform::windows::{self, OPENS_LINKS};

/// What is said of what is no regular file.
const ODD: &str = "it is no regular file";

/// Opens a regular file to read and returns its length. Anything else under the path is an error.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    let (file, meta) = regular(path, OpenOptions::new().read(true))?;
    Ok((file, meta.len()))
}

/// Opens a file and makes sure that it is one. A device is refused by its name: to open it may wait.
fn regular(path: &Path, options: &OpenOptions) -> io::Result<(File, fs::Metadata)> {
    if is_device(&path.to_string_lossy()) {
        return Err(io::Error::other(ODD));
    }
    let file = options.open(path)?;
    if !windows::is_on_disk(&file) {
        return Err(io::Error::other(ODD));
    }
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta)) } else { Err(io::Error::other(ODD)) }
}

/// Lists at most so many entries of a folder, in its own order.
pub fn entries(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let listed = fs::read_dir(folder)?.flatten().take(most);
    let entry = |it: fs::DirEntry| Entry { path: it.path(), is_folder: it.file_type().is_ok_and(|kind| kind.is_dir()) };
    Ok(listed.map(entry).collect())
}

/// Opens a file to lock it, without following a link, and makes it where there is none.
pub fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).custom_flags(OPENS_LINKS);
    regular(path, &options).map(|(file, _)| file)
}

/// Writes a file that must not be there yet, not even as a link. What others may do with it, its folder says.
pub fn write_new(path: &Path, _mode: u32, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).custom_flags(OPENS_LINKS);
    regular(path, &options)?.0.write_all(content.as_ref())
}

/// Returns where a file has data again: that is not known here.
pub fn next_data(_file: &File, _at: u64) -> Option<u64> {
    None
}

/// Reads on from an offset of a file into what is left of a buffer; returns how many bytes came, 0 at the file's end.
pub fn read_on(file: &File, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
    let before = buffer.len();
    buffer.resize(buffer.capacity(), 0);
    let read = file.seek_read(&mut buffer[before..], offset);
    buffer.truncate(before + read.as_ref().copied().unwrap_or(0));
    read
}
