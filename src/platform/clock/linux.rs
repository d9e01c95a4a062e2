//! The clocks of Linux.

use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::domain::stable_hash;

/// Returns the milliseconds since boot: while the machine was awake, and also while it slept.
pub fn since_boot_ms() -> (u64, u64) {
    let millis = |clock: Timespec| (clock.tv_sec as u64) * 1000 + (clock.tv_nsec as u64) / 1_000_000;
    (millis(clock_gettime(ClockId::Monotonic)), millis(clock_gettime(ClockId::Boottime)))
}

/// Returns a hash of this boot's id; zero where the system does not tell.
pub fn boot() -> u64 {
    let file = rustix::fs::open("/proc/sys/kernel/random/boot_id", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut id = [0u8; 64];
    let Ok(length) = file.and_then(|file| rustix::io::read(file, &mut id)) else { return 0 };
    stable_hash::of(&id[..length]) & 0xffff_ffff
}
