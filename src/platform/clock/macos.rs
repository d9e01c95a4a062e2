//! The clocks of macOS.

use crate::domain::stored::stable_hash;
use crate::platform::macos;

/// The most bytes that the id of a boot has.
const LONGEST_ID: usize = 64;

/// Returns the milliseconds since boot: while the machine was awake, and also while it slept.
pub fn since_boot_ms() -> (u64, u64) {
    (macos::awake_ms(), macos::since_boot_ms())
}

/// Returns a hash of this boot's id; zero where the system does not tell.
pub fn boot() -> u64 {
    let id = macos::sysctl_by_name(c"kern.bootsessionuuid", LONGEST_ID).unwrap_or_default();
    if id.is_empty() { 0 } else { stable_hash::of(&id) & 0xffff_ffff }
}
