//! A program in the foreground: it has the terminal, and what would end Fusebox alone reaches it too.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

/// Runs a program to its end, with one more variable in its environment. Returns its exit code as a shell would give it.
#[cfg(unix)]
pub use unix::run;
#[cfg(windows)]
pub use windows::run;
