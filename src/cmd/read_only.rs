//! A state that cannot be written, as one of a read-only mount: what only reads it takes a copy.

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::platform::atomic_file;
use crate::platform::environment::Environment;
use crate::platform::file_info;
use crate::platform::foreground;
use crate::platform::scratch::Scratch;
use crate::store::FILE;

/// The modes of the copy.
const OWN: u32 = 0o600;

/// Runs the same command line over a copy of the state, where that is there and cannot be written: SQLite writes where it only
/// reads, and what the transcripts have beyond the state is counted. Returns `None` where the state can be written.
pub fn over_copy(env: &Environment) -> Result<Option<ExitCode>> {
    let (Some(folder), Some(program)) = (env.state_dir(), env.binary()) else { return Ok(None) };
    let is_closed = |name: &str| {
        let path = folder.join(name);
        file_info::exists(&path) && !file_info::is_writable(&path)
    };
    if !file_info::is_file(&folder.join(FILE)) || !["", "locks", FILE].into_iter().any(is_closed) {
        return Ok(None);
    }
    let copy = Scratch::make().map_err(|cause| Error::failed(format!("cannot make a temporary folder: {cause}")))?;
    for name in [FILE.to_owned(), format!("{FILE}-wal")] {
        let path = folder.join(&name);
        if file_info::exists(&path) {
            let copied = atomic_file::replace_program(&path, &copy.path().join(&name), OWN);
            copied.map_err(|cause| Error::file("read", &path, cause))?;
        }
    }
    let folder = env.short_path(&folder);
    env.eprintln_safe(&format!("fusebox: {folder} cannot be written: a copy of it is read, and nothing is kept"));
    let arguments: Vec<_> = env.args().into_iter().skip(1).collect();
    let place = copy.path().to_string_lossy();
    let code = foreground::run(program.as_os_str(), &arguments, "FUSEBOX_HOME", &place)?;
    Ok(Some(ExitCode::from(code)))
}
