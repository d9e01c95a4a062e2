//! The calls of macOS that no library makes safe, each as a safe function: sysctl, libproc, clocks, and waiting for ends.

#![expect(unsafe_code, reason = "the system's calls are C's")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CStr, c_int, c_uint};
use std::io;
use std::ptr;
use std::time::Duration;

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::fd::OwnedFd;
use rustix::process::Pid;

/// Asks libproc where the file of a descriptor lies (`PROC_PIDFDVNODEPATHINFO` of `sys/proc_info.h`).
const FILE_OF_DESCRIPTOR: c_int = 2;

/// Returns what the system answers to a name of numbers, at most so many bytes.
pub fn sysctl(name: &[c_int], most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; most];
    let mut length = most;
    // SAFETY: the name and the buffer are as long as is said, and live through the call. Nothing is set.
    let failed = unsafe {
        let (name, count) = (name.as_ptr().cast_mut(), name.len() as c_uint);
        libc::sysctl(name, count, bytes.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0)
    };
    bytes.truncate(length);
    if failed == 0 { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Returns how many bytes the system would answer to a name of numbers.
pub fn sysctl_length(name: &[c_int]) -> io::Result<usize> {
    let mut length = 0;
    // SAFETY: the name is as long as is said, and lives through the call. Without a buffer only the length is written.
    let failed = unsafe {
        let (name, count) = (name.as_ptr().cast_mut(), name.len() as c_uint);
        libc::sysctl(name, count, ptr::null_mut(), &raw mut length, ptr::null_mut(), 0)
    };
    if failed == 0 { Ok(length) } else { Err(io::Error::last_os_error()) }
}

/// Returns what the system answers to a name in words, at most so many bytes.
pub fn sysctl_by_name(name: &CStr, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; most];
    let mut length = most;
    // SAFETY: the name ends with a zero byte, the buffer is as long as is said, and both live through the call.
    let failed =
        unsafe { libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0) };
    bytes.truncate(length);
    if failed == 0 { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Returns what libproc tells of a process's open file, at most so many bytes; nothing for a process of another user's.
pub fn open_file(pid: c_int, descriptor: c_int, most: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; most];
    let room = c_int::try_from(most).ok()?;
    // SAFETY: the buffer is as long as is said, and lives through the call.
    let length = unsafe { libc::proc_pidfdinfo(pid, descriptor, FILE_OF_DESCRIPTOR, bytes.as_mut_ptr().cast(), room) };
    bytes.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(bytes)
}

/// Returns the time since boot in milliseconds, by a clock that goes on while the machine sleeps.
pub fn since_boot_ms() -> u64 {
    clock_ms(libc::CLOCK_MONOTONIC_RAW)
}

/// Returns the time since boot in milliseconds, by a clock that stops while the machine sleeps.
pub fn awake_ms() -> u64 {
    clock_ms(libc::CLOCK_UPTIME_RAW)
}

fn clock_ms(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a value that lives through the call.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    match (failed, seconds, nanoseconds) {
        (0, Ok(seconds), Ok(nanoseconds)) => seconds * 1000 + nanoseconds / 1_000_000,
        _ => 0,
    }
}

/// Watches for the end of processes from its making on.
pub struct EndWatch {
    queue: OwnedFd,
    /// Whether one of them was gone already.
    pub has_gone: bool,
}

impl EndWatch {
    /// Begins to watch.
    pub fn of(pids: impl Iterator<Item = Pid>) -> io::Result<EndWatch> {
        let mut watch = EndWatch { queue: kqueue()?, has_gone: false };
        for pid in pids {
            let end = EventFilter::Proc { pid, flags: ProcessEvents::EXIT };
            let event = Event::new(end, EventFlags::ADD | EventFlags::ONESHOT, ptr::null_mut());
            let mut none: [Event; 0] = [];
            // SAFETY: the event names a process, and no descriptor that could be closed.
            let added = unsafe { kevent(&watch.queue, &[event], &mut none, Some(Duration::ZERO)) };
            watch.has_gone |= added == Err(rustix::io::Errno::SRCH);
        }
        Ok(watch)
    }

    /// Waits until one has ended, or so long by a clock that stops while the machine sleeps; returns whether one has.
    pub fn wait(&self, patience: Duration) -> bool {
        if self.has_gone {
            return true;
        }
        let mut ended = Vec::with_capacity(1);
        // SAFETY: as above: no event names a descriptor.
        let waited = unsafe { kevent(&self.queue, &[], rustix::buffer::spare_capacity(&mut ended), Some(patience)) };
        waited.is_ok_and(|count| count > 0)
    }
}
