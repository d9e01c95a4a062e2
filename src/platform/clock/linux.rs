//! The clocks of Linux.

use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::domain::stored::stable_hash;
use crate::platform::files;

/// The most that is read of the shifts, in bytes.
const LARGEST: u64 = 4 << 10;

/// How long a clock tick is, in nanoseconds.
const TICK_NS: i128 = 10_000_000;
/// The time namespace in which clocks and start times are the machine's own, by the kernel's fixed number.
const NOT_SHIFTED: &[u8] = b"time:[4026531834]";

/// By how much a time namespace shifts what this process reads, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shift {
    awake_ns: i128,
    boot_ns: i128,
}

/// Returns the shift of this process's time namespace. It stays what it is while the process runs.
fn shift() -> Shift {
    static SHIFT: OnceLock<Shift> = OnceLock::new();
    *SHIFT.get_or_init(|| {
        let mut link = [0u8; 32];
        let read = rustix::fs::readlinkat_raw(CWD, "/proc/self/ns/time", &mut link);
        if read.is_ok_and(|length| &link[..length] == NOT_SHIFTED) {
            return Shift::default();
        }
        let offsets = files::text(Path::new("/proc/self/timens_offsets"), LARGEST).unwrap_or_default();
        read_shift(&offsets)
    })
}

/// Reads lines of a clock's name, seconds and nanoseconds.
fn read_shift(offsets: &str) -> Shift {
    let offset_ns = |clock: &str| {
        let mut words = offsets.lines().find_map(|line| line.strip_prefix(clock))?.split_whitespace();
        let (seconds, nanos): (i128, i128) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(seconds * 1_000_000_000 + nanos)
    };
    Shift { awake_ns: offset_ns("monotonic").unwrap_or(0), boot_ns: offset_ns("boottime").unwrap_or(0) }
}

/// Takes a time namespace's shift off a moment in clock ticks since boot.
pub fn unshifted_ticks(ticks: u64) -> u64 {
    let Shift { boot_ns, .. } = shift();
    if boot_ns == 0 {
        return ticks;
    }
    u64::try_from((i128::from(ticks) * TICK_NS - boot_ns).div_euclid(TICK_NS)).unwrap_or(0)
}

/// Returns the milliseconds since boot, in whichever time namespace: while the machine was awake, and also while it slept.
pub fn since_boot_ms() -> (u64, u64) {
    let Shift { awake_ns, boot_ns } = shift();
    let millis = |clock: Timespec, shift: i128| {
        let nanos = i128::from(clock.tv_sec) * 1_000_000_000 + i128::from(clock.tv_nsec) - shift;
        u64::try_from(nanos / 1_000_000).unwrap_or(0)
    };
    (millis(clock_gettime(ClockId::Monotonic), awake_ns), millis(clock_gettime(ClockId::Boottime), boot_ns))
}

/// Returns a hash of this boot's id; zero where the system does not tell.
pub fn boot() -> u64 {
    let file = openat(CWD, "/proc/sys/kernel/random/boot_id", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut id = [0u8; 64];
    let Ok(length) = file.and_then(|file| rustix::io::read(file, &mut id)) else { return 0 };
    stable_hash::of(&id[..length]) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_read_by_the_names_of_its_clocks() {
        let read = read_shift("monotonic     9999999         0\nboottime      -86400  5000000\n");
        assert_eq!(read, Shift { awake_ns: 9_999_999_000_000_000, boot_ns: -86_399_995_000_000 });
        assert_eq!(read_shift(""), Shift::default());
        assert_eq!(read_shift("boottime x 1\n"), Shift::default());
    }
}
