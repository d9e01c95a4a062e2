//! The clocks of the machine, and which boot it is.
//!
//! | | counts sleep | stops in sleep | which boot |
//! |---|---|---|---|
//! | Linux | `CLOCK_BOOTTIME` | `CLOCK_MONOTONIC` | `/proc/sys/kernel/random/boot_id` |
//! | macOS | `CLOCK_MONOTONIC_RAW` | `CLOCK_UPTIME_RAW` | `kern.bootsessionuuid` |
//! | Windows | `GetTickCount64` | `QueryUnbiasedInterruptTime` | the boot time, less what it was corrected by |

#![expect(clippy::disallowed_methods, reason = "this is the place")]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;
#[cfg(any(windows, test))]
mod windows_bytes;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

use std::time::{SystemTime, UNIX_EPOCH};

/// Takes off start times what a time namespace shifts them by.
#[cfg(target_os = "linux")]
pub use system::unshifted_ticks;

/// Returns a hash of this boot's id; zero where it is not known.
pub use system::boot;
/// Returns the milliseconds since boot, twice: while the machine was awake, and also while it slept.
pub use system::since_boot_ms;

/// Returns the milliseconds since 1970.
pub fn wall_ms() -> i64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(wall.as_millis()).unwrap_or(i64::MAX)
}

/// Returns how many milliseconds after the boot something was, of its moment in milliseconds since 1970.
///
/// A wall clock that was set since then is wrong by as much.
#[cfg(not(target_os = "linux"))]
pub fn since_boot_of_wall_ms(then_ms: u64) -> u64 {
    let (_, now_ms) = since_boot_ms();
    since_boot_of(then_ms, wall_ms(), now_ms)
}

#[cfg(any(not(target_os = "linux"), test))]
fn since_boot_of(then_ms: u64, wall_ms: i64, since_boot_ms: u64) -> u64 {
    let ago = u64::try_from(wall_ms).unwrap_or(0).saturating_sub(then_ms);
    since_boot_ms.saturating_sub(ago)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_the_wall_clock_is_one_since_boot() {
        assert_eq!(since_boot_of(1_000_000, 1_005_000, 60_000), 55_000);
        assert_eq!(since_boot_of(1_005_001, 1_005_000, 60_000), 60_000, "a clock that was set back");
        assert_eq!(since_boot_of(0, 1_005_000, 60_000), 0, "before the boot");
        assert_eq!(since_boot_of(1, -1, 60_000), 60_000, "before 1970");
    }
}
