//! The limits on its own resources that a process inherits (`ulimit`): an agent can start a client under any, or set its own client's.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use unix::run;

/// Runs a call. Nothing of the kind is inherited here.
#[cfg(not(unix))]
pub fn run(call: fn() -> std::process::ExitCode) -> std::process::ExitCode {
    call()
}
