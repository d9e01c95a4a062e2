//! Changes to files and folders by their names: making, renaming, removing, and who may do what.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::fs;
use std::io;
use std::path::Path;

/// Makes a folder with this mode, with those that it needs; one that is there stays as it is.
pub use system::make_folders_with;
/// Gives a new file its mode, before it has its name.
pub use system::mode_of_new;
/// Renames a file; one that has the new name goes.
pub use system::rename;
/// Renames a program; one that has the new name goes, and goes on where it runs.
pub use system::rename_program;
/// Sets who may do what with a file or folder.
pub use system::set_mode;
/// Sets the times of a file to now, as a program does that has written it.
pub use system::touch;

/// Makes a folder, with those that it needs; one that is there stays.
pub fn make_folders(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Removes a file.
pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Removes a folder that nothing is in.
pub fn remove_empty_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// Removes a folder with all that is in it.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}
