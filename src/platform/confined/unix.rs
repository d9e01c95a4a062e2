//! Writing below a trusted folder on Unix systems: each folder is opened in the one before, by its descriptor.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, RawMode, fchmod, flock, mkdirat, open, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use crate::platform::confined::appended::{Appended, oddity};
use crate::platform::file_info;

/// What only the owner may read and write.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// What only the owner may look into.
const PRIVATE_FOLDER: Mode = Mode::RWXU;
/// The bits of a mode that say who may do what, and those that let others in.
const PERMISSIONS: u32 = 0o777;
const OTHERS: u32 = 0o077;

/// A folder that is open.
pub struct Folder {
    opened: OwnedFd,
    /// Whether it was made just now.
    pub is_new: bool,
}

impl Folder {
    /// Opens a folder that is trusted: the links on the way to it are the person's.
    pub fn at(path: &Path) -> io::Result<Folder> {
        let opened = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Folder { opened, is_new: false })
    }

    /// Opens a folder that an agent may have put a link in the place of.
    pub fn that_is_no_link(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Folder { opened: open(path, flags, Mode::empty())?, is_new: false })
    }

    /// Opens a folder in this one, and makes it where there is none, for its owner alone.
    pub fn inside(&self, name: &str) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || openat(&self.opened, name, flags, Mode::empty());
        match open() {
            Err(Errno::NOENT) => {}
            other => return Ok(Folder { opened: other?, is_new: false }),
        }
        let is_new = mkdirat(&self.opened, name, PRIVATE_FOLDER).is_ok();
        let opened = open().inspect_err(|_| {
            // The process's mask may keep even the owner out of it.
            let _not_ours = is_new.then(|| unlinkat(&self.opened, name, AtFlags::REMOVEDIR));
        })?;
        if is_new {
            fchmod(&opened, PRIVATE_FOLDER)?;
        }
        Ok(Folder { opened, is_new })
    }

    /// Opens a file in this folder to append to, and makes it where there is none, for its owner alone.
    pub fn append(&self, name: &str) -> io::Result<Appended> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
        let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.opened, name, flags, PRIVATE_FILE)?);
        let meta = file_info::of_file(&file)?;
        if let Some(odd) = oddity(&meta) {
            return Err(io::Error::other(odd));
        }
        let was_open = meta.mode & OTHERS != 0;
        if (meta.mode & PERMISSIONS) as RawMode != PRIVATE_FILE.as_raw_mode() {
            // The process's mask may have taken away what the owner needs.
            fchmod(&file, PRIVATE_FILE)?;
        }
        Ok(Appended { file, length: meta.length, is_new: was_open || meta.length == 0 })
    }

    /// Makes a file with a text, unless something has its name.
    pub fn write_new(&self, name: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.opened, name, flags, PRIVATE_FILE)?);
        fchmod(&file, PRIVATE_FILE)?;
        file.write_all(text.as_bytes())
    }

    /// Renames a file in this folder that is longer than so many bytes, unless another process does that now or has done it. What has
    /// the new name goes, and no link is followed.
    pub fn put_aside(&self, from: &str, to: &str, longer_than: u64) -> io::Result<()> {
        // The lock goes with the folder. Where a file system has none, the file is renamed without.
        if flock(&self.opened, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Ok(());
        }
        if self.append(from)?.length > longer_than {
            renameat(&self.opened, from, &self.opened, to)?;
        }
        Ok(())
    }
}
