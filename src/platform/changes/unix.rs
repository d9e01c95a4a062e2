//! Changes of Unix systems: modes, names, times.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

/// Makes a folder with this mode, with those that it needs; one that is there stays as it is.
pub fn make_folders_with(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// Sets who may do what with a file or folder.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Gives a new file its mode, before it has its name.
pub fn mode_of_new(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Renames a file; one that has the new name goes.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Renames a program; one that has the new name goes, and goes on where it runs.
pub fn rename_program(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Sets the times of a file to now, as a program does that has written it.
pub fn touch(path: &Path) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(utimensat(CWD, path, &times, AtFlags::empty())?)
}
