//! Inherited limits of Unix systems.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// Bytes of stack that any call gets along with.
const STACK: usize = 1 << 20;

/// Runs a call so that inherited limits do not end it: a file that may not grow is an error like others, and where the stack may
/// be too small the call has another one.
pub fn run(call: fn() -> ExitCode) -> ExitCode {
    if getrlimit(Resource::Fsize).current.is_some() {
        // The signal would end the process. Once anything listens to it the write fails instead.
        let _as_before = flag::register(SIGXFSZ, Arc::default());
    }
    if getrlimit(Resource::Stack).current.is_none_or(|bytes| bytes >= STACK as u64) {
        return call();
    }
    let apart = thread::Builder::new().stack_size(STACK).spawn(call);
    apart.ok().and_then(|call| call.join().ok()).unwrap_or_else(call)
}
