//! A program in the foreground of a Unix system: signals that would end Fusebox alone are handed on.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Error, Result};

/// Runs a program to its end, with one more variable in its environment. Returns its exit code as a shell would give it.
pub fn run(program: &OsStr, arguments: &[OsString], variable: &str, value: &str) -> Result<u8> {
    // Before the child is there: from its first moment on a signal must not end us alone.
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|cause| Error::failed(format!("cannot listen to signals: {cause}")))?;
    let mut command = Command::new(program);
    command.args(arguments).env(variable, value);
    #[cfg(target_os = "linux")]
    super::linux::end_with_this_process(&mut command);
    let child = command.spawn().map_err(|cause| {
        Error::failed(format!("cannot run `{}`: {cause}", program.display())).hint("is it installed and on the PATH?")
    })?;
    let (status, ended_by) = wait(child, signals)?;
    // A client that was interrupted may end as if it were done.
    Ok(match ended_by {
        Some(signal) if status.success() => 128 + signal,
        _ => code(status),
    })
}

/// Waits for a program; returns how it ended, and the signal that it was handed. SIGINT reaches it from a terminal, as us.
fn wait(mut child: Child, mut signals: Signals) -> Result<(ExitStatus, Option<u8>)> {
    let handle = signals.handle();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let has_terminal = io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    let listen = move || {
        let mut handed_on = None;
        for signal in signals.forever() {
            let passed_on = match signal {
                SIGTERM => Some(Signal::TERM),
                SIGHUP => Some(Signal::HUP),
                SIGINT if !has_terminal => Some(Signal::INT),
                _ => None,
            };
            if let (Some(pid), Some(signal)) = (pid, passed_on) {
                let _gone = kill_process(pid, signal);
                handed_on = u8::try_from(signal.as_raw()).ok();
            }
        }
        handed_on
    };
    // Where the system gives no thread for it, signals are not handed on.
    let listener = thread::Builder::new().spawn(listen);
    let status = child.wait().map_err(|cause| Error::failed(format!("cannot wait for the command: {cause}")));
    handle.close();
    let handed_on = listener.ok().and_then(|listener| listener.join().ok()).flatten();
    Ok((status?, handed_on))
}

/// Returns the exit code as a shell would give it: 128 and the signal where one ended it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
