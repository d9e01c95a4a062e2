//! How much time has passed in this process, by the clock that stops while the machine sleeps.

#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "this is the place"))]

use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

#[cfg(windows)]
use crate::platform::windows;

/// A watch that was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    #[cfg(unix)]
    began: Instant,
    /// By the clock since boot: the one of the standard library goes on while Windows sleeps.
    #[cfg(windows)]
    began_100ns: u64,
}

#[cfg(unix)]
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

#[cfg(windows)]
impl Stopwatch {
    /// Starts a watch.
    pub fn start() -> Stopwatch {
        Stopwatch { began_100ns: windows::awake_100ns() }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(windows::awake_100ns().saturating_sub(self.began_100ns) * 100)
    }
}
