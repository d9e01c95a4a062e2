//! Signals to a process that has a terminal's whole screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCONT, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::platform::full_screen::Input;

/// Signals that were heard and not told yet.
pub struct Signals {
    heard: [(Arc<AtomicBool>, Input); 3],
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Signals> {
        let heard = [(Arc::default(), Input::End), (Arc::default(), Input::Suspend), (Arc::default(), Input::Redraw)];
        for (signal, at) in [(SIGINT, 0), (SIGTERM, 0), (SIGTSTP, 1), (SIGCONT, 2)] {
            let (is_heard, _): &(Arc<AtomicBool>, Input) = &heard[at];
            flag::register(signal, is_heard.clone())?;
        }
        Ok(Signals { heard })
    }

    /// Returns what the next one asks for.
    pub fn next(&mut self) -> Option<Input> {
        self.heard.iter().find(|(is_heard, _)| is_heard.swap(false, Ordering::Relaxed)).map(|(_, input)| *input)
    }
}

/// Stands still until SIGCONT.
pub fn stand_still() {
    let _goes_on = low_level::emulate_default_handler(SIGTSTP);
}
