//! The state folder is its owner's alone, and nothing lies in it that would hold SQLite, or lead it elsewhere.
//!
//! SQLite opens what it finds: a pipe under the name of its journal would hold a hook for ever. So every name is looked at first.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::confined::oddity;
use crate::platform::file_info::{self, FileInfo};
use crate::platform::{changes, files};

/// The modes of what is made.
const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;
/// The most files whose modes are set in one go; there are a hundred.
const MOST_FILES: usize = 10_000;
/// What SQLite puts beside the database when it is opened alone.
const BESIDE: [&str; 2] = ["-journal", "-wal"];

/// What to do where the state cannot be kept.
pub const ELSEWHERE: &str = "set FUSEBOX_HOME to a folder that you may write to";

/// Makes the state folder, or looks whether it is one, and a private one.
pub fn make_folder(folder: &Path) -> Result<()> {
    let is_private = match file_info::of_itself(folder) {
        Ok(meta) if meta.is_folder() => is_private(&meta),
        // A person may keep the state elsewhere; an agent's link to a folder without state is not followed.
        Ok(meta) if meta.is_link() && is_real_folder(&folder.join("locks"))? => {
            file_info::of(folder).is_ok_and(|it| is_private(&it))
        }
        Ok(_) => {
            let what = "it is no folder, or a link to one without state in it";
            return Err(
                Error::file("keep the state in", folder, what).hint("remove it, or set FUSEBOX_HOME to another folder")
            );
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            make(folder)?;
            true
        }
        Err(cause) => return Err(Error::file("keep the state in", folder, cause)),
    };
    if !is_private {
        close(folder)?;
    }
    let locks = folder.join("locks");
    if is_real_folder(&locks)? {
        return Ok(());
    }
    make(&locks)?;
    keep_out_of_git(folder);
    Ok(())
}

/// Has git leave out a state that begins in somebody's checkout: nobody is to commit it.
fn keep_out_of_git(folder: &Path) {
    if folder.ancestors().any(|above| file_info::exists(&above.join(".git"))) {
        // One that is there is the person's.
        let _is_there = files::write_new(&folder.join(".gitignore"), FILE, b"*\n");
    }
}

/// Looks at the database and at what SQLite keeps beside it, before SQLite does. Where there is no database an empty one is made:
/// what SQLite makes has the modes of the database.
pub fn check_database(path: &Path) -> Result<()> {
    if !is_own_file(path)? {
        let made = files::write_new(path, FILE, b"");
        made.and_then(|()| changes::set_mode(path, FILE))
            .or_else(|cause| if cause.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(cause) })
            .map_err(|cause| Error::file("make the database", path, cause))?;
    }
    BESIDE.into_iter().try_for_each(|end| check_beside(path, end))
}

/// Looks at one of the files that SQLite keeps beside the database.
pub fn check_beside(database: &Path, end: &str) -> Result<()> {
    is_own_file(&PathBuf::from(format!("{}{end}", database.display()))).map(drop)
}

/// Takes away what others may do with anything in the state folder, whoever made it.
pub fn close(folder: &Path) -> Result<()> {
    let mut paths = below(folder);
    if is_real_folder(&folder.join("locks"))? {
        paths.extend(below(&folder.join("locks")));
    }
    for path in paths {
        let Ok(meta) = file_info::of_itself(&path) else { continue };
        // What has another name is not Fusebox's alone.
        if !is_private(&meta) && (meta.is_folder() || oddity(&meta).is_none()) {
            let _not_ours = changes::set_mode(&path, meta.mode & !OTHERS);
        }
    }
    set_mode(folder, FOLDER)
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = files::entries(folder, MOST_FILES).map(|it| it.found).unwrap_or_default();
    entries.into_iter().map(|entry| entry.path).collect()
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let set = changes::set_mode(path, mode);
    set.map_err(|cause| Error::file("make private", path, cause))
}

fn make(folder: &Path) -> Result<()> {
    let made = changes::make_folders_with(folder, FOLDER);
    // The process's mask may have taken away what the owner needs.
    let made = made.and_then(|()| changes::set_mode(folder, FOLDER));
    made.map_err(|cause| Error::file("make the state folder", folder, cause).hint(ELSEWHERE))
}

/// Whether a folder is there; anything else under its name is an error.
fn is_real_folder(path: &Path) -> Result<bool> {
    match file_info::of_itself(path) {
        Ok(meta) if meta.is_folder() => Ok(true),
        Ok(_) => Err(odd(path, "it is no folder")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::file("look at", path, cause)),
    }
}

/// Whether a file is there, closed to others; anything else under its name is an error.
fn is_own_file(path: &Path) -> Result<bool> {
    match file_info::of_itself(path) {
        Ok(meta) => {
            if let Some(what) = oddity(&meta) {
                return Err(odd(path, what));
            }
            if !is_private(&meta) {
                changes::set_mode(path, FILE).map_err(|cause| Error::file("make private", path, cause))?;
            }
            Ok(true)
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::file("look at", path, cause)),
    }
}

fn odd(path: &Path, what: &str) -> Error {
    Error::file("use", path, what).hint("move it out of the way")
}

fn is_private(meta: &FileInfo) -> bool {
    meta.mode & OTHERS == 0
}
