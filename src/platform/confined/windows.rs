//! Writing below a trusted folder on Windows: each folder stays open so that it keeps its name, and none is a link.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::platform::confined::appended::{Appended, oddity};
use crate::platform::file_info;
use crate::platform::windows::{GOES_WHEN_CLOSED, OPENS_FOLDERS, OPENS_LINKS, SHARES_NO_NAME, SHARES_NOTHING};

/// A folder that is open.
pub struct Folder {
    path: PathBuf,
    /// While it is open, nobody can rename or remove it: its path leads here.
    _held: File,
    /// Whether it was made just now.
    pub is_new: bool,
}

impl Folder {
    /// Opens a folder that is trusted: the links on the way to it are the person's.
    pub fn at(path: &Path) -> io::Result<Folder> {
        let path = file_info::real_path(path)?;
        Ok(Folder { _held: hold(&path)?, path, is_new: false })
    }

    /// Opens a folder that an agent may have put a link in the place of.
    pub fn that_is_no_link(path: &Path) -> io::Result<Folder> {
        Ok(Folder { _held: hold(path)?, path: path.to_owned(), is_new: false })
    }

    /// Opens a folder in this one, and makes it where there is none.
    pub fn inside(&self, name: &str) -> io::Result<Folder> {
        let path = self.path.join(name);
        let is_new = match fs::create_dir(&path) {
            Ok(()) => true,
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => false,
            Err(cause) => return Err(cause),
        };
        Ok(Folder { _held: hold(&path)?, path, is_new })
    }

    /// Opens a file in this folder to append to, and makes it where there is none.
    pub fn append(&self, name: &str) -> io::Result<Appended> {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).custom_flags(OPENS_LINKS).open(self.path.join(name))?;
        let meta = file_info::of_file(&file)?;
        match oddity(&meta) {
            Some(odd) => Err(io::Error::other(odd)),
            None => Ok(Appended { file, length: meta.length, is_new: meta.length == 0 }),
        }
    }

    /// Makes a file with a text, unless something has its name.
    pub fn write_new(&self, name: &str, text: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).custom_flags(OPENS_LINKS).open(self.path.join(name))?;
        file.write_all(text.as_bytes())
    }

    /// Renames a file in this folder that is longer than so many bytes, unless another process does that now or has done it. What has
    /// the new name goes, and no link is followed.
    pub fn put_aside(&self, from: &str, to: &str, longer_than: u64) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create(true)
            .truncate(false)
            .share_mode(SHARES_NOTHING)
            .custom_flags(OPENS_LINKS | GOES_WHEN_CLOSED);
        // Folders have no locks here, and a lock on the file itself would keep others from writing to it.
        let Ok(_alone) = options.open(self.path.join(format!("{from}.lock"))) else { return Ok(()) };
        if self.append(from)?.length > longer_than {
            fs::rename(self.path.join(from), self.path.join(to))?;
        }
        Ok(())
    }
}

/// Opens a folder so that it keeps its name; a link to one is an error.
fn hold(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).share_mode(SHARES_NO_NAME).custom_flags(OPENS_FOLDERS | OPENS_LINKS);
    let held = options.open(path)?;
    match held.metadata()? {
        meta if meta.file_type().is_symlink() => Err(io::Error::other("it is a link")),
        meta if !meta.is_dir() => Err(io::Error::other("it is no folder")),
        _ => Ok(held),
    }
}
