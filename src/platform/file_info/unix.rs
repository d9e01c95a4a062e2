//! What Unix systems tell of a file beside what all do.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::platform::file_info::own::{Asked, Own};

/// The bits of a mode that say who may do what.
const PERMISSIONS: u32 = 0o7777;

/// Returns what the system tells of a file in its own way.
pub fn own(meta: &Metadata, _asked: Asked<'_>) -> Own {
    let changed_ns = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
    Own {
        mode: meta.mode() & PERMISSIONS,
        owner: meta.uid(),
        names: meta.nlink(),
        place: (meta.dev(), meta.ino()),
        changed_ns: u64::try_from(changed_ns).unwrap_or(0),
    }
}

/// Whether this user may write to a file, or change a folder, on a disk that can be written.
pub fn is_writable(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// Returns a path as others take it: here it is that already.
pub fn plain(path: PathBuf) -> PathBuf {
    path
}
