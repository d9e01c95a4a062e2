//! Files written whole: through links, keeping their permissions, never half.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::platform::{changes, file_info, files};

/// The largest program that is compared, in bytes.
const LARGEST_PROGRAM: u64 = 256 << 20;

/// Writes a file, with the folders it needs. A file that is new gets these permissions, less the umask.
pub fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = file_info::real_path(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().unwrap_or(Path::new("."));
    changes::make_folders(folder)?;
    let mut new = new_file(folder, mode)?;
    new.write_all(text.as_bytes())?;
    if let Ok(present) = file_info::of(&path) {
        changes::mode_of_new(new.as_file(), present.mode)?;
    }
    new.persist(&path)?;
    Ok(())
}

/// Puts a copy of a program in a place, on the disk before it has its name. One that runs there goes on.
pub fn replace_program(program: &Path, place: &Path, mode: u32) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let (mut source, _) = files::open(program)?;
    let mut new = new_file(folder, mode)?;
    io::copy(&mut source, &mut new)?;
    changes::mode_of_new(new.as_file(), mode)?;
    new.as_file().sync_all()?;
    let new = new.into_temp_path();
    changes::rename_program(&new, place)
}

/// Whether two programs are the same, byte for byte.
pub fn is_equal(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(files::bytes(one, LARGEST_PROGRAM)? == files::bytes(other, LARGEST_PROGRAM)?)
}

/// Makes a file without a name of its own, with these permissions less the umask.
#[cfg(unix)]
fn new_file(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)
}

/// Makes a file without a name of its own; who may do what with it, its folder says.
#[cfg(windows)]
fn new_file(folder: &Path, _mode: u32) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().tempfile_in(folder)
}
