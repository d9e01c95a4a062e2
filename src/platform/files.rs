//! The one door to files that an agent could have made: regular files only, never waited for, and bounded in size and number.
//!
//! A pipe or a device under their names must not hold a hook, nor fill its memory. `clippy.toml` forbids the other ways.

mod entry;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use entry::Entry;
/// How a text in UTF-16 begins, as PowerShell writes it.
const UTF_16: &[u8] = b"\xff\xfe";

/// Returns where a file has data again, from an offset on; its end where there is none. Nothing where that is not known.
pub use system::next_data;
/// Opens a regular file to read and returns its length. Anything else under the path is an error.
pub use system::open;
/// Opens a file to lock it, without waiting for it and without following a link, and makes it where there is none.
pub use system::open_to_lock;
/// Reads on from an offset of a file into what is left of a buffer; returns how many bytes came, 0 at the file's end.
pub use system::read_on;
/// Writes a file that must not be there yet, not even as a link. `mode` is what others than its owner may do with it.
pub use system::write_new;

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

/// Reads a text of at most so many bytes, by the encodings that the client reads: UTF-16 where it begins with that one's mark, else
/// UTF-8. What in it is neither is replaced.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = bytes(path, most)?;
    if let Some(wide) = bytes.strip_prefix(UTF_16) {
        let units: Vec<u16> = wide.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        return Ok(String::from_utf16_lossy(&units));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|cause| String::from_utf8_lossy(cause.as_bytes()).into_owned()))
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))
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
    let mut found = system::entries(folder, most.saturating_add(1))?;
    let has_more = found.len() > most;
    found.truncate(most);
    Ok(Entries { found, has_more })
}

/// Returns the files below a folder; links to folders are not followed. It looks at so many entries in all, the nearest first.
pub fn below(folder: &Path, depth: usize, most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    let mut left = most;
    for _ in 0..=depth {
        for folder in std::mem::take(&mut folders) {
            let Ok(entries) = entries(&folder, left) else { continue };
            left -= entries.found.len();
            for Entry { path, is_folder } in entries.found {
                if is_folder { folders.push(path) } else { found.push(path) }
            }
        }
    }
    found
}
