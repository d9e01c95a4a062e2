//! A console has no signals that a whole screen would hear: Ctrl-C comes as a key, and nothing stands still.

use std::io;

use crate::platform::full_screen::Input;

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
