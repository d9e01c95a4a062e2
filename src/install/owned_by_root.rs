//! What only an administrator may change, and everybody may read: the files of a managed install.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::{changes, file_info};

/// The bits that let others than the owner write.
const OTHERS_WRITE: u32 = 0o022;
/// The bit that keeps entries of a folder for their owners, whoever may write into it.
const STICKY: u32 = 0o1000;

/// Finds the part of a path, links followed, that others than root may replace; all of it where the system does not tell.
pub fn loose_part(path: &Path) -> Option<PathBuf> {
    if !file_info::TELLS_WHO_MAY_WRITE {
        return Some(path.to_path_buf());
    }
    let real = file_info::real_path(path).unwrap_or_else(|_| path.to_path_buf());
    [path, &real].into_iter().flat_map(Path::ancestors).find(|part| is_loose(part)).map(Path::to_path_buf)
}

fn is_loose(part: &Path) -> bool {
    let Ok(meta) = file_info::of_itself(part) else { return true };
    // Whose a link is counts; its own bits say nothing.
    let open = !meta.is_link() && meta.mode & OTHERS_WRITE != 0;
    meta.owner != 0 || (open && !(meta.is_folder() && meta.mode & STICKY != 0))
}

/// Refuses to register a binary for everybody that others than root may replace.
pub fn require(path: &Path) -> Result<()> {
    if !file_info::TELLS_WHO_MAY_WRITE {
        let hint = "`fusebox init --scope user` registers it for you alone, in every project";
        return Err(Error::failed("on this system Fusebox cannot tell who may change a program").hint(hint));
    }
    let Some(part) = loose_part(path) else { return Ok(()) };
    let (path, part) = (path.display(), part.display());
    let what = format!("`{path}` is no binary for everybody: others than root may change `{part}`");
    let hint = format!(
        "put it where only root may write: `install -m 755 {path} /usr/local/bin/fusebox`, then `/usr/local/bin/fusebox init --scope managed`"
    );
    Err(Error::failed(what).hint(hint))
}

/// Lets everybody read a file and look into its folder, whatever the administrator's mask is: a client that cannot read the
/// managed settings runs without them.
pub fn share(file: &Path) -> Result<()> {
    let open = |path: &Path, mode: u32| {
        changes::set_mode(path, mode).map_err(|cause| Error::file("open to everybody", path, cause))
    };
    open(file, 0o644)?;
    file.parent().map_or(Ok(()), |folder| open(folder, 0o755))
}
