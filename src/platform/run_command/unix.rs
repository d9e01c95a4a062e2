//! Programs that Unix systems start: in a process group of their own, which is ended as a whole.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// Returns the name: the system looks it up on the PATH itself.
pub fn resolve(program: &OsStr) -> Cow<'_, OsStr> {
    Cow::Borrowed(program)
}

/// Returns the shell that runs a command line, and what it is told before the line.
pub fn shell() -> (&'static str, &'static [&'static str]) {
    ("sh", &["-c"])
}

/// A program and all that it starts.
pub struct Brood(Option<Pid>);

impl Brood {
    /// Ends all of them.
    pub fn end(self) {
        if let Some(group) = self.0 {
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Starts a program that can be ended with all that it starts.
pub fn spawn_apart(command: &mut Command) -> io::Result<(Child, Brood)> {
    let child = command.process_group(0).spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok((child, Brood(group)))
}

/// Starts a program that goes on when this one has ended.
pub fn spawn_detached(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}
