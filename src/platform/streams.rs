//! Standard input and output, waited for in bounds.

#![cfg_attr(feature = "team", expect(clippy::disallowed_methods, reason = "this is the place"))]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(all(windows, feature = "team"))]
use crate::platform::windows::without_echo;
#[cfg(target_os = "linux")]
pub use linux::input_sender;
#[cfg(target_os = "macos")]
pub use unix::input_sender;
#[cfg(all(unix, feature = "team"))]
use unix::without_echo;
#[cfg(unix)]
pub use unix::{is_read_for, read_input, width, write_pieces};
#[cfg(windows)]
pub use windows::{input_sender, is_read_for, read_input, width, write_pieces};

/// Asks a person at the terminal for a line, and has the terminal not show what they type.
#[cfg(feature = "team")]
pub fn read_unseen(ask: impl FnOnce()) -> String {
    let mut line = String::new();
    without_echo(|| {
        ask();
        let _ended = std::io::stdin().read_line(&mut line);
    });
    line.trim().to_owned()
}
