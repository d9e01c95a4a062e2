//! Files written whole: through links, keeping their permissions, never half.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::platform::{changes, file_info};

/// Writes a file, with the folders it needs. A file that is new gets these permissions, less the umask.
pub fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = file_info::real_path(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().unwrap_or(Path::new("."));
    changes::make_folders(folder)?;
    let mut new = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Ok(present) = file_info::of(&path) {
        new.as_file().set_permissions(Permissions::from_mode(present.mode))?;
    }
    new.persist(&path)?;
    Ok(())
}
