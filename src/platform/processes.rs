//! Other processes: who is above whom, and the ending of shell commands that outlive their run.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

use std::path::Path;
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use rustix::process::{nice, setsid};

use crate::platform::environment::Environment;
use crate::platform::{file_info, files};

/// The most that is read of what the kernel tells of a process, in bytes: its arguments may be some megabytes.
const LARGEST: u64 = 16 << 20;

/// The most processes above one that are looked at. An agent can have its processes start one another.
pub const MOST_ABOVE: usize = 4096;

/// Returns this process's id.
pub fn own_id() -> u32 {
    std::process::id()
}

/// Returns the id of the user that this process acts for.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns a process and those above it with their start times, the nearest first; at most [`MOST_ABOVE`] of them.
pub fn ancestors(pid: u32) -> Vec<(u32, u64)> {
    let mut above = Vec::new();
    let mut at = pid;
    // A client may be a container's first process.
    while at > 0 && above.len() < MOST_ABOVE {
        let Some((parent, start)) = parent_and_start(at) else { break };
        above.push((at, start));
        at = parent;
    }
    above
}

/// Returns when a process was started that nobody watches: it has no terminal, and what started it, or those above it, has
/// gone, so that init or a user's systemd has taken it in.
pub fn left_alone(pid: u32) -> Option<u64> {
    const TERMINAL: usize = 4;
    let terminal = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    if terminal.rsplit_once(')')?.1.split_whitespace().nth(TERMINAL)? != "0" {
        return None;
    }
    let taken_in = |parent: u32| {
        parent == 1
            || files::bytes(Path::new(&format!("/proc/{parent}/comm")), LARGEST).is_ok_and(|name| name == b"systemd\n")
    };
    let mut above = ancestors(pid).into_iter();
    above.find(|(at, _)| parent_and_start(*at).is_some_and(|(parent, _)| taken_in(parent))).map(|(_, start)| start)
}

/// How long a clock tick is in which the system tells when a process was started, in milliseconds.
pub const TICK_MS: u64 = 10;

/// Returns how many milliseconds after the boot a process was started, of its start time in clock ticks.
pub fn since_boot_ms(start: u64) -> u64 {
    start.saturating_mul(TICK_MS)
}

/// Reads a process's parent and its start time in clock ticks since boot.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

/// Returns the arguments that a process was started with, its own name among them; none where the platform does not tell.
pub fn arguments(pid: u32) -> Vec<String> {
    let line = files::bytes(Path::new(&format!("/proc/{pid}/cmdline")), LARGEST).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// The environment that a process was started with.
pub struct ProcessEnvironment(Vec<u8>);

impl ProcessEnvironment {
    /// Reads the environment of a process; nothing where it is another user's.
    pub fn of(pid: u32) -> Option<ProcessEnvironment> {
        files::bytes(Path::new(&format!("/proc/{pid}/environ")), LARGEST).ok().map(ProcessEnvironment)
    }

    /// Returns a variable.
    pub fn var(&self, name: &str) -> Option<String> {
        let mut pairs =
            self.0.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    }
}

/// Returns a variable of the environment that a process was started with.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    ProcessEnvironment::of(pid)?.var(name)
}

/// Returns the pid namespace that this process's ids are of, where the platform tells.
pub fn namespace() -> Option<u64> {
    let link = file_info::link_target(Path::new("/proc/self/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether a process is surely gone: nothing runs under its id, or something that started at another time.
///
/// Ids of another namespace, or of one that is not known, say nothing.
pub fn is_gone(pid: u32, start: u64, ns: u64) -> bool {
    if ns == 0 || namespace() != Some(ns) {
        return false;
    }
    let Ok(stat) = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST) else {
        return file_info::is_gone(Path::new(&format!("/proc/{pid}")));
    };
    let ended = stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['Z', 'X']));
    ended || parent_and_start(pid).is_some_and(|(_, now)| now != start)
}

/// Whether a process is surely at work: the one that started then runs under its id, and ids mean the same here.
pub fn is_at_work(pid: u32, start: u64, ns: u64) -> bool {
    ns == namespace().unwrap_or(0) && parent_and_start(pid).is_some_and(|(_, now)| now == start)
}

/// Keeps other processes of the same user away from this one's descriptors and memory, as far as the platform can: what one of
/// them wrote to its standard output would be taken for its answer.
pub fn seal(env: &Environment) {
    #[cfg(target_os = "linux")]
    if !env.goes_on() {
        let _as_before = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
}

/// Leaves the session of the terminal or client that started this process, so that what ends them does not end it.
pub fn leave_session() {
    let _leads_already = setsid();
}

/// Does nothing for so long, where nobody waits for this process.
pub fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// Leaves the session of the terminal or client that started this process, and makes way for all others.
pub fn retreat() {
    leave_session();
    let _as_before = nice(19);
}

/// Returns a child of a process that leads its own group: its id and its start time.
pub fn leaders_below(parent: u32) -> impl Iterator<Item = (u32, u64)> {
    all().filter_map(move |pid| Some((pid, start_of_leader(pid, parent)?)))
}

/// Returns the start time of a process that is a child of another and leads its own group.
fn start_of_leader(pid: u32, parent: u32) -> Option<u64> {
    let stat = files::text(Path::new(&format!("/proc/{pid}/stat")), LARGEST).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(20).collect();
    let [_, of, group, ..] = fields.as_slice() else { return None };
    let is_one = *of == parent.to_string() && *group == pid.to_string();
    fields.get(19).filter(|_| is_one)?.parse().ok()
}

/// Ends a process that leads its group, with all that is in the group: the one that `is_it` still says yes to once nothing else
/// can take its id. Returns whether it was ended.
#[cfg(target_os = "linux")]
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

/// Without a way to hold a process, nothing is ended: it is reported.
#[cfg(not(target_os = "linux"))]
pub fn end_group(_pid: u32, _is_it: impl Fn() -> bool) -> bool {
    false
}

/// Waits until one of some processes has ended, or so long by a clock that stops while the machine sleeps; returns whether one
/// has.
#[cfg(target_os = "linux")]
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

/// Without a way to hold a process, the time alone is waited for.
#[cfg(not(target_os = "linux"))]
pub fn wait_for_end(_pids: &[u32], patience: Duration) -> bool {
    std::thread::park_timeout(patience);
    false
}

fn all() -> impl Iterator<Item = u32> {
    let entries = files::entries(Path::new("/proc"), usize::MAX).map(|it| it.found).unwrap_or_default();
    entries.into_iter().filter_map(|entry| entry.path.file_name()?.to_str()?.parse().ok())
}
