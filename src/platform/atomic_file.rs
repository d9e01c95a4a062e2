//! Files written whole: through links, keeping their permissions, never half.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file, with the folders it needs. A file that is new gets these permissions, less the umask.
pub fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Ok(present) = fs::metadata(&path) {
        new.as_file().set_permissions(present.permissions())?;
    }
    new.persist(&path)?;
    Ok(())
}
