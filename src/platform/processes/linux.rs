//! The process table of Linux: /proc, pid namespaces, and file descriptors that hold a process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::platform::file_info::{self, FileInfo};
use crate::platform::{clock, files};

use crate::platform::processes::linux_view::is_hidden;
pub use crate::platform::processes::linux_view::{namespace, shown_id, shows_own_ids, tree};

/// The most that is read of what the kernel tells of a process, in bytes: its arguments may be some megabytes.
const LARGEST: u64 = 16 << 20;

/// How long a clock tick is in which the system tells when a process was started, in milliseconds.
pub const TICK_MS: u64 = 10;

/// Returns how many milliseconds after the boot a process was started, of its start time in clock ticks.
pub fn since_boot_ms(start: u64) -> u64 {
    start.saturating_mul(TICK_MS)
}

/// Reads a process's parent and its start time in clock ticks since boot, in whichever time namespace this one is.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, clock::unshifted_ticks(fields.nth(17)?.parse().ok()?)))
}

/// Returns the name of a process's terminal, or none where it has none; nothing where the process is gone.
pub fn terminal(pid: u32) -> Option<Option<String>> {
    const TERMINAL: usize = 4;
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    let device: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(TERMINAL)?.parse().ok()?;
    let (major, minor) = ((device >> 8) & 0xFFF, (device & 0xFF) | ((device >> 12) & 0xF_FF00));
    Some(match (major, minor) {
        (0, 0) => None,
        (136, minor) => Some(format!("pts/{minor}")),
        (4, minor) => Some(format!("tty{minor}")),
        _ => Some(format!("{major}:{minor}")),
    })
}

/// Whether a process takes in those whose parents have gone: init, or a user's systemd.
pub fn takes_in(pid: u32) -> bool {
    pid == 1 || files::bytes(Path::new(&format!("/proc/{pid}/comm")), LARGEST).is_ok_and(|name| name == b"systemd\n")
}

/// Returns the arguments that a process was started with, its own name among them; none where the platform does not tell.
pub fn arguments(pid: u32) -> Vec<String> {
    let mut line = files::bytes(Path::new(&format!("/proc/{pid}/cmdline")), LARGEST).unwrap_or_default();
    // Each ends with a zero byte, the last one too; a process may have written over it.
    if line.last() == Some(&0) {
        line.pop();
    }
    line.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// Returns the environment that a process was started with, each variable ended by a zero byte; nothing where it is another user's.
pub fn environment(pid: u32) -> Option<Vec<u8>> {
    files::bytes(Path::new(&format!("/proc/{pid}/environ")), LARGEST).ok()
}

/// Returns the files that a process's standard output and standard error lead to.
pub fn outputs(pid: u32) -> Vec<PathBuf> {
    let target = |fd| file_info::link_target(Path::new(&format!("/proc/{pid}/fd/{fd}"))).ok();
    [1, 2].into_iter().filter_map(target).collect()
}

/// Whether nothing runs under an id, or something that started at another time. What is hidden may be there.
pub fn is_gone(pid: u32, start: u64) -> bool {
    looks_gone(pid, start) && !is_hidden(pid)
}

fn looks_gone(pid: u32, start: u64) -> bool {
    let Ok(stat) = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST) else {
        return file_info::is_gone(Path::new(&format!("/proc/{pid}")));
    };
    let ended = stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['Z', 'X']));
    ended || parent_and_start(pid).is_some_and(|(_, now)| now != start)
}

/// Whether a process is stopped, as by Ctrl-Z or a debugger.
pub fn is_stopped(pid: u32) -> bool {
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['T', 't']))
}

/// The longest list of locks that is read, in bytes: some 60,000 of them.
const LONGEST_LOCKS: u64 = 4 << 20;

/// Whether somebody waits to open a file that another process keeps under a lease.
pub fn is_lease_awaited() -> bool {
    let locks = files::text(Path::new("/proc/locks"), LONGEST_LOCKS).unwrap_or_default();
    locks.lines().any(|line| line.contains(" LEASE ") && line.contains(" BREAKING "))
}

/// Keeps other processes of the same user away from this one's descriptors and memory.
pub fn seal() {
    let _as_before = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Returns a child of a process that leads its own group: its id and its start time.
pub fn leaders_below(parent: u32) -> impl Iterator<Item = (u32, u64)> {
    all().filter_map(move |pid| Some((pid, start_of_leader(pid, parent)?)))
}

/// Returns the start time of a process at work that is a child of another and leads its own group.
fn start_of_leader(pid: u32, parent: u32) -> Option<u64> {
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(20).collect();
    let [state, of, group, ..] = fields.as_slice() else { return None };
    // One that has ended is listed until its parent has asked how.
    let is_one = *of == parent.to_string() && *group == pid.to_string() && !state.starts_with(['Z', 'X']);
    fields.get(19).filter(|_| is_one)?.parse().ok().map(clock::unshifted_ticks)
}

/// Ends a process that leads its group, with all that is in the group: the one that `is_it` still says yes to once nothing else
/// can take its id. Returns whether it was ended.
pub fn end_group(pid: u32, is_it: impl Fn() -> bool) -> bool {
    let Some(leader) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // As long as this is open, a signal sent through it reaches this process or none.
    let Ok(held) = pidfd_open(leader, PidfdFlags::empty()) else { return false };
    if !is_it() {
        return false;
    }
    // Asking first would mean waiting: the time for that is over.
    let group = kill_process_group(leader, Signal::KILL);
    let _gone_with_it = pidfd_send_signal(&held, Signal::KILL);
    // The next that is looked for must not be this one again.
    let _gone = poll(&mut [PollFd::new(&held, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 }));
    group.is_ok()
}

/// Asks a process to end: the one that `is_it` still says yes to once nothing else can take its id. Returns whether it was asked.
pub fn ask_to_end(pid: u32, is_it: impl Fn() -> bool) -> bool {
    signal(pid, is_it, Signal::TERM)
}

/// Interrupts a process as Ctrl-C does: the one that `is_it` still says yes to. Returns whether it was interrupted.
pub fn interrupt(pid: u32, is_it: impl Fn() -> bool) -> bool {
    signal(pid, is_it, Signal::INT)
}

fn signal(pid: u32, is_it: impl Fn() -> bool, signal: Signal) -> bool {
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    let Ok(held) = pidfd_open(process, PidfdFlags::empty()) else { return false };
    is_it() && pidfd_send_signal(&held, signal).is_ok()
}

/// Waits until one of some processes has ended, or so long by a clock that stops while the machine sleeps; returns whether one
/// has.
pub fn wait_for_end(pids: &[u32], patience: Duration) -> bool {
    let mut held = Vec::new();
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?)) {
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => held.push(process),
            Err(Errno::SRCH) => return true,
            Err(_) => {}
        }
    }
    let mut watched: Vec<PollFd> = held.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
    let patience = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    poll(&mut watched, Some(&patience)).is_ok_and(|ended| ended > 0)
}

/// Returns the other processes that run the program of a process, or a copy of it, with their start times.
pub fn running_as(pid: u32) -> Vec<(u32, u64)> {
    let Some(own) = program(pid) else { return Vec::new() };
    let others = all().filter(|other| *other != pid && program(*other).is_some_and(|it| is_copy(&it, &own)));
    others.filter_map(|other| Some((other, parent_and_start(other)?.1))).collect()
}

/// Whether a process runs the program of another one, or a copy of it. A file of the very same length counts as a copy.
pub fn runs_as(one: u32, other: u32) -> bool {
    program(one).zip(program(other)).is_some_and(|(one, other)| is_copy(&one, &other))
}

fn is_copy(one: &FileInfo, other: &FileInfo) -> bool {
    one.place == other.place || one.length == other.length
}

fn program(pid: u32) -> Option<FileInfo> {
    file_info::of(Path::new(&format!("/proc/{pid}/exe"))).ok()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = files::entries(Path::new("/proc"), usize::MAX).map(|it| it.found).unwrap_or_default();
    entries.into_iter().filter_map(|entry| entry.path.file_name()?.to_str()?.parse().ok())
}
