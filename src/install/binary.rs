//! The path under which the client shall find this binary.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform::environment::{EXE_SUFFIX, Environment};
use crate::platform::file_info;

/// Returns the path to register: as the user named it or as the PATH has it, since that outlives the versioned folder that a
/// link of a package manager leads to; else where it really is.
pub fn stable_path(env: &Environment) -> Result<PathBuf> {
    let real = real_path(env)?;
    let same = |path: &PathBuf| is_plain(path) && file_info::real_path(path).is_ok_and(|path| path == real);
    let path = named(env).into_iter().chain(on_path(env)).find(same).unwrap_or_else(|| real.clone());
    match path.to_str().filter(|_| has_our_name(&path)) {
        Some(_) => Ok(path),
        None => Err(Error::failed(format!("this program is `{}`", path.display()))
            .hint("call it `fusebox`, so that its hooks can be told from others")),
    }
}

/// Returns where this program really is.
pub fn real_path(env: &Environment) -> Result<PathBuf> {
    let real = env.binary().and_then(|path| file_info::real_path(&path).ok());
    real.ok_or_else(|| Error::failed("cannot find the path of this program"))
}

/// Returns the path that the user typed.
fn named(env: &Environment) -> Option<PathBuf> {
    let typed = PathBuf::from(env.args().into_iter().next()?);
    let path = env.folder().join(&typed);
    (typed.components().count() > 1).then(|| path.components().collect())
}

fn on_path(env: &Environment) -> Vec<PathBuf> {
    env.search_path().into_iter().map(|folder| folder.join(name())).collect()
}

fn name() -> String {
    format!("fusebox{EXE_SUFFIX}")
}

fn has_our_name(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(&name()))
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute() && has_our_name(path) && !path.components().any(|part| part == Component::ParentDir)
}
