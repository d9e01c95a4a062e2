//! What Linux does for a program when the one that started it is gone.

#![expect(unsafe_code, reason = "what runs in a new process before its program is unsafe by its type")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Has the kernel send SIGTERM to a program when this process ends, even by SIGKILL. The thread that starts it must stay until then.
pub fn end_with_this_process(command: &mut Command) {
    let this = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // Nothing is sent for a parent that has ended before.
        if getppid() == Some(this) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec it makes two system calls, and takes neither memory nor a lock.
    let _itself = unsafe { command.pre_exec(ask) };
}
