//! Signals to a process that has a terminal's whole screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::platform::full_screen::Input;

/// How long is left to wait for a key after `is_gone`, which has waited.
pub const REST: Option<Duration> = Some(Duration::ZERO);

/// Waits so long for a key, a signal or the terminal's end; returns whether it is the end.
pub fn is_gone(patience: Duration) -> bool {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    // A signal ends the wait, too.
    let _how_many = poll(&mut asked, patience.as_ref());
    asked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

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
