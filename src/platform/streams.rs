//! Standard input and output, waited for in bounds.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{is_read_for, read_input, width, write_pieces};
#[cfg(windows)]
pub use windows::{is_read_for, read_input, width, write_pieces};
