//! The process table of macOS: sysctl for who is above whom and what each was started with, libproc for files, kqueue for ends.

use std::ffi::{OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use libc::{CTL_KERN, KERN_PROC, KERN_PROC_ALL, KERN_PROC_PID, KERN_PROCARGS2};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::platform::clock;
use crate::platform::macos::{self, EndWatch};
use crate::platform::processes::macos_bytes::{ENTRY, Entry, OPEN_FILE, entries, entry, file_path, started_with};

/// The most that arguments and environment of a process take, in bytes: `ARG_MAX`, and the program's path.
const LONGEST_START: usize = (1 << 20) + (64 << 10);
/// How many more processes may start while the table is read.
const NEWCOMERS: usize = 64;
/// How far the clock of start times and the one since boot may be apart, in milliseconds.
pub const TICK_MS: u64 = 10;
/// There is one space of process ids.
const ONLY_NAMESPACE: u64 = 1;
/// launchd, which takes in those whose parents have gone.
const LAUNCHD: u32 = 1;
/// How long the end of what was killed is waited for.
const END_PATIENCE: Duration = Duration::from_millis(100);

/// Returns how many milliseconds after the boot a process was started, of its start time in microseconds since 1970.
pub fn since_boot_ms(start: u64) -> u64 {
    clock::since_boot_of_wall_ms(start / 1000)
}

/// Reads a process's parent and its start time in microseconds since 1970.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    look_up(pid).ok()?.map(|found| (found.parent, found.start))
}

/// Finds a process in the table: nothing where there is none, an error where the system does not tell.
fn look_up(pid: u32) -> std::io::Result<Option<Entry>> {
    let id = c_int::try_from(pid).map_err(std::io::Error::other)?;
    let bytes = macos::sysctl(&[CTL_KERN, KERN_PROC, KERN_PROC_PID, id], ENTRY)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    entry(&bytes).map(Some).ok_or_else(|| std::io::Error::other("an entry of another form"))
}

/// Names a process's terminal, which has no name here, or none where it has none; nothing where the process is gone.
pub fn terminal(pid: u32) -> Option<Option<String>> {
    look_up(pid).ok()?.map(|found| found.has_terminal.then(String::new))
}

/// Whether a process takes in those whose parents have gone.
pub fn takes_in(pid: u32) -> bool {
    pid == LAUNCHD
}

fn start_of(pid: u32) -> Option<Vec<u8>> {
    macos::sysctl(&[CTL_KERN, KERN_PROCARGS2, c_int::try_from(pid).ok()?], LONGEST_START).ok()
}

/// Returns the arguments that a process was started with, its own name among them; none where it is another user's.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = start_of(pid).unwrap_or_default();
    let arguments = started_with(&bytes).map(|it| it.arguments).unwrap_or_default();
    arguments.into_iter().map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// Returns the environment that a process was started with, each variable ended by a zero byte; nothing where it is another user's,
/// or one that the system protects.
pub fn environment(pid: u32) -> Option<Vec<u8>> {
    let bytes = start_of(pid)?;
    started_with(&bytes).map(|it| it.environment.to_vec()).filter(|environment| !environment.is_empty())
}

/// Returns the files that a process's standard output and standard error lead to; none where it is another user's.
pub fn outputs(pid: u32) -> Vec<PathBuf> {
    let Ok(pid) = c_int::try_from(pid) else { return Vec::new() };
    let told = [1, 2].into_iter().filter_map(|descriptor| macos::open_file(pid, descriptor, OPEN_FILE));
    told.filter_map(|bytes| file_path(&bytes).map(|path| PathBuf::from(OsStr::from_bytes(path)))).collect()
}

/// Returns the space of process ids that this process's id is of.
pub fn namespace() -> Option<u64> {
    Some(ONLY_NAMESPACE)
}

/// Whether nothing runs under an id, or something that started at another time.
pub fn is_gone(pid: u32, start: u64) -> bool {
    look_up(pid).is_ok_and(|found| found.is_none_or(|it| it.has_ended || it.start != start))
}

/// Leases on files are Linux's.
pub fn is_lease_awaited() -> bool {
    false
}

/// Whether a process is stopped, as by Ctrl-Z.
pub fn is_stopped(pid: u32) -> bool {
    look_up(pid).ok().flatten().is_some_and(|found| found.is_stopped)
}

/// Nothing has to be sealed: no path leads to another process's descriptors, and its memory takes a right that programs lack.
pub fn seal() {}

/// Returns a child of a process that leads its own group: its id and its start time.
pub fn leaders_below(parent: u32) -> impl Iterator<Item = (u32, u64)> {
    let is_one = move |it: &Entry| it.parent == parent && it.group == it.pid && !it.has_ended;
    all().into_iter().filter(is_one).map(|it| (it.pid, it.start))
}

fn all() -> Vec<Entry> {
    let name = [CTL_KERN, KERN_PROC, KERN_PROC_ALL];
    let length = macos::sysctl_length(&name).unwrap_or(0);
    entries(&macos::sysctl(&name, length + NEWCOMERS * ENTRY).unwrap_or_default())
}

/// Ends a process that leads its group, with all that is in the group: the one that `is_it` still says yes to once its end is
/// watched for. Returns whether it was ended.
///
/// Nothing holds a process here. But ids are given out in turn, and a group keeps its own: within the moment between the last look
/// and the signal the id cannot become another's.
pub fn end_group(pid: u32, is_it: impl Fn() -> bool) -> bool {
    let Some(leader) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    let Ok(watch) = EndWatch::of([leader].into_iter()) else { return false };
    if watch.has_gone || !is_it() || watch.wait(Duration::ZERO) {
        return false;
    }
    // Asking first would mean waiting: the time for that is over.
    let group = kill_process_group(leader, Signal::KILL);
    // The next that is looked for must not be this one again.
    let _gone = watch.wait(END_PATIENCE);
    group.is_ok()
}

/// Asks a process to end: the one that `is_it` says yes to. Returns whether it was asked.
pub fn ask_to_end(pid: u32, is_it: impl Fn() -> bool) -> bool {
    signal(pid, is_it, Signal::TERM)
}

/// Interrupts a process as Ctrl-C does: the one that `is_it` says yes to. Returns whether it was interrupted.
pub fn interrupt(pid: u32, is_it: impl Fn() -> bool) -> bool {
    signal(pid, is_it, Signal::INT)
}

fn signal(pid: u32, is_it: impl Fn() -> bool, signal: Signal) -> bool {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| is_it() && kill_process(process, signal).is_ok())
}

/// Waits until one of some processes has ended, or so long by a clock that stops while the machine sleeps; returns whether one
/// has.
pub fn wait_for_end(pids: &[u32], patience: Duration) -> bool {
    let pids = pids.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?));
    match EndWatch::of(pids) {
        Ok(watch) => watch.wait(patience),
        Err(_) => {
            std::thread::park_timeout(patience);
            false
        }
    }
}
