//! The clocks of Windows.

use crate::domain::stored::stable_hash;
use crate::platform::clock::windows_bytes::{TIME_OF_DAY, booted_at};
use crate::platform::windows;

/// Returns the milliseconds since boot: while the machine was awake, and also while it slept.
pub fn since_boot_ms() -> (u64, u64) {
    (windows::awake_100ns() / 10_000, windows::since_boot_ms())
}

/// Returns a hash of this boot's moment; zero where the system does not tell.
pub fn boot() -> u64 {
    let told = windows::time_of_day::<TIME_OF_DAY>();
    told.and_then(|bytes| booted_at(&bytes)).map_or(0, |at| stable_hash::of(&at.to_le_bytes()) & 0xffff_ffff)
}
