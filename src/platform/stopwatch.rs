//! How much time has passed in this process, by the clock that stops while the machine sleeps.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::time::{Duration, Instant};

/// A watch that was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    began: Instant,
}

impl Stopwatch {
    /// Starts a watch.
    pub fn start() -> Stopwatch {
        Stopwatch { began: Instant::now() }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}
