//! Programs that Windows starts: in a job of their own, which is ended as a whole.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::platform::windows::{self, BREAKS_AWAY, DETACHED, Job, NO_WINDOW};

/// The endings of programs, in the order in which they are looked for. npm installs `claude.cmd`.
const ENDINGS: [&str; 4] = ["exe", "com", "cmd", "bat"];
/// Where Git for Windows has its shell; the client looks in the same places.
const GIT_BASH: [&str; 2] = [r"C:\Program Files\Git\bin\bash.exe", r"C:\Program Files (x86)\Git\bin\bash.exe"];
/// Names another shell of Git's.
const NAMED_BASH: &str = "CLAUDE_CODE_GIT_BASH_PATH";

/// Finds the program that a name stands for. By itself the system finds `.exe` alone; and looks in the working folder, too.
pub fn resolve(program: &OsStr) -> Cow<'_, OsStr> {
    let path = Path::new(program);
    if path.components().count() != 1 || path.extension().is_some() {
        return Cow::Borrowed(program);
    }
    let folders = env::var_os("PATH").map(|list| env::split_paths(&list).collect::<Vec<_>>()).unwrap_or_default();
    let named =
        |folder: &PathBuf| ENDINGS.iter().map(|ending| folder.join(path).with_extension(ending)).collect::<Vec<_>>();
    let found = folders.iter().filter(|folder| folder.is_absolute()).flat_map(named).find(|file| file.is_file());
    found.map_or(Cow::Borrowed(program), |file| Cow::Owned(file.into_os_string()))
}

/// Returns the shell that runs a command line, and what it is told before the line: Git's, as in the client, else PowerShell.
pub fn shell() -> (OsString, &'static [&'static str]) {
    let named = env::var_os(NAMED_BASH).map(PathBuf::from).into_iter();
    let mut known = named.chain(GIT_BASH.iter().map(PathBuf::from));
    match known.find(|file| file.is_file()) {
        Some(bash) => (bash.into_os_string(), &["-c"]),
        None => ("powershell".into(), &["-NoProfile", "-NonInteractive", "-Command"]),
    }
}

/// A program and all that it starts.
pub struct Brood(Option<Job>);

impl Brood {
    /// Ends all of them.
    pub fn end(self) {
        if let Some(job) = self.0 {
            job.end();
        }
    }
}

/// Starts a program that can be ended with all that it starts, but for what it starts within its first moment.
pub fn spawn_apart(command: &mut Command) -> io::Result<(Child, Brood)> {
    let child = command.creation_flags(NO_WINDOW).spawn()?;
    let job = Job::of(&child);
    Ok((child, Brood(job)))
}

/// Starts a program that goes on when this one has ended, without a window and without this one's streams: the client would wait
/// until it lets go of them.
pub fn spawn_detached(command: &mut Command) -> io::Result<Child> {
    windows::keep_streams();
    // A job that this process is in may end all that is in it; not each lets anything leave.
    command.creation_flags(DETACHED | BREAKS_AWAY).spawn().or_else(|_| command.creation_flags(DETACHED).spawn())
}
