//! A console has no signals that a whole screen would hear: Ctrl-C comes as a key, and nothing stands still.

use std::io;
use std::time::Duration;

use crate::platform::full_screen::Input;

/// How long is left to wait for a key after `is_gone`, which has not waited.
pub const REST: Option<Duration> = None;

/// A console that is closed ends its programs.
pub fn is_gone(_patience: Duration) -> bool {
    false
}

/// Signals: none.
pub struct Signals;

impl Signals {
    /// Listens to nothing.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals)
    }

    /// Returns nothing.
    pub fn next(&mut self) -> Option<Input> {
        None
    }
}

/// Goes on at once.
pub fn stand_still() {}
