//! The drives of Windows.

use std::path::{Component, Path, Prefix};

use crate::platform::{file_info, windows};

/// Returns the name of the network file system that a folder is on; `None` where it is on a local drive.
pub fn network(folder: &Path) -> Option<&'static str> {
    let real = file_info::real_path(folder).unwrap_or_else(|_| folder.to_path_buf());
    let Some(Component::Prefix(prefix)) = real.components().next() else { return None };
    match prefix.kind() {
        Prefix::UNC(..) | Prefix::VerbatimUNC(..) => Some("a network share"),
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) if windows::is_remote_drive(letter) => {
            Some("a network drive")
        }
        _ => None,
    }
}
