//! What kind of file system a folder is on, and whether it has room.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

use std::io;
use std::path::Path;

use crate::platform::{changes, files};

/// Returns the name of the network file system that a folder is on; `None` where it is on a local one.
pub use system::network;

/// Writes a file of so many bytes into a folder and removes it: an error where the disk has no room for it.
pub fn try_room(folder: &Path, bytes: usize) -> io::Result<()> {
    let path = folder.join("trial-room");
    let _earlier = changes::remove_file(&path);
    let written = files::write_new(&path, 0o600, vec![1; bytes]);
    let _gone = changes::remove_file(&path);
    written
}
