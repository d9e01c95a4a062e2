//! Standard input and output, waited for in bounds.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::input_sender;
#[cfg(target_os = "macos")]
pub use unix::input_sender;
#[cfg(unix)]
pub use unix::{is_read_for, read_input, width, write_pieces};
#[cfg(windows)]
pub use windows::{input_sender, is_read_for, read_input, width, write_pieces};
