//! Other processes: who is above whom, and the ending of shell commands that outlive their run.
//!
//! One file for each system holds the same functions. What a system does not tell is in `docs/platforms.md`, and `doctor` says it.

#![expect(clippy::disallowed_methods, reason = "this is the place")]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod linux_view;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(any(target_os = "macos", test))]
mod macos_bytes;
mod tree;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(any(windows, test))]
pub mod windows_bytes;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

use std::path::PathBuf;
use std::time::Duration;

pub use system::{
    TICK_MS, arguments, end_group, leaders_below, namespace, parent_and_start, since_boot_ms, wait_for_end,
};
#[cfg(target_os = "linux")]
pub use system::{running_as, runs_as, shown_id, tree};
pub use tree::{Above, MOST_ABOVE, Tree};
#[cfg(unix)]
pub use unix::{leave_session, retreat, user_id};
#[cfg(windows)]
pub use windows::{leave_session, retreat, user_id};

use crate::platform::environment::Environment;
use crate::platform::file_info;

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

/// Returns the process that has started this one; 0 where the system does not tell.
pub fn parent_id() -> u32 {
    #[cfg(unix)]
    return std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    parent_and_start(std::process::id()).map_or(0, |(parent, _)| parent)
}

/// Whether two processes run the same program; where the system does not tell, by how they were started.
pub fn run_the_same(one: u32, other: u32) -> bool {
    let program = |pid: u32| PathBuf::from(format!("/proc/{pid}/exe"));
    let first = |pid: u32| arguments(pid).into_iter().next();
    file_info::is_same(&program(one), &program(other)) || first(one).is_some() && first(one) == first(other)
}

/// Whether the system tells which program a process runs.
pub const TELLS_PROGRAMS: bool = cfg!(target_os = "linux");

/// Returns the program that a process runs; nothing where the system does not tell.
pub fn program(pid: u32) -> Option<PathBuf> {
    file_info::link_target(&PathBuf::from(format!("/proc/{pid}/exe"))).ok()
}

/// Returns the name of a process's terminal, which may be empty; nothing where it has none.
pub fn terminal(pid: u32) -> Option<String> {
    system::terminal(pid).flatten()
}

/// Whether the system tells of a process: its parent, its start and, on Linux, its terminal.
pub fn is_shown(pid: u32) -> bool {
    parent_and_start(pid).is_some() && (!cfg!(target_os = "linux") || system::terminal(pid).is_some())
}

/// Returns when a process was started that nobody watches: it has no terminal, and what started it, or those above it, has
/// gone, so that another process has taken it in.
pub fn orphaned_since(pid: u32) -> Option<u64> {
    if system::terminal(pid)?.is_some() {
        return None;
    }
    let mut above = ancestors(pid).into_iter();
    above
        .find(|(at, _)| parent_and_start(*at).is_some_and(|(parent, _)| system::takes_in(parent)))
        .map(|(_, start)| start)
}

/// Returns this process and all above it; the reason where they are not all shown.
#[cfg(not(target_os = "linux"))]
pub fn tree() -> Result<Tree, &'static str> {
    Tree::of_one_list(ancestors(std::process::id()), namespace().unwrap_or(0))
}

/// Returns the id by which a process is listed: the one that it knows itself by.
#[cfg(not(target_os = "linux"))]
pub fn shown_id(pid: u32) -> Option<u32> {
    Some(pid)
}

/// Returns the other processes that run the program of a process; none, since the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn running_as(_pid: u32) -> Vec<(u32, u64)> {
    Vec::new()
}

/// Whether a process runs the program of another one: the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn runs_as(_one: u32, _other: u32) -> bool {
    false
}

/// The environment that a process was started with.
pub struct ProcessEnvironment(Vec<u8>);

impl ProcessEnvironment {
    /// Reads the environment of a process; nothing where it is another user's.
    pub fn of(pid: u32) -> Option<ProcessEnvironment> {
        system::environment(pid).map(ProcessEnvironment)
    }

    /// Returns a variable.
    pub fn var(&self, name: &str) -> Option<String> {
        let mut pairs =
            self.0.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    }
}

/// Whether two processes were started with the same words and environment, as one is until it runs a program of its own.
pub fn is_twin(one: u32, other: u32) -> bool {
    arguments(one) == arguments(other) && system::environment(one) == system::environment(other)
}

/// Returns a variable of the environment that a process was started with.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    ProcessEnvironment::of(pid)?.var(name)
}

/// Returns the files that a process's standard output and standard error lead to; none where the platform does not tell.
pub fn outputs(pid: u32) -> Vec<PathBuf> {
    system::outputs(pid)
}

/// Whether ids in the list of processes are surely those by which the system tells this process of others.
pub fn shows_own_ids() -> bool {
    #[cfg(target_os = "linux")]
    return system::shows_own_ids();
    #[cfg(not(target_os = "linux"))]
    true
}

/// Whether a process is surely gone: nothing runs under its id, or something that started at another time.
///
/// Ids of another namespace, or of one that is not known, say nothing.
pub fn is_gone(pid: u32, start: u64, ns: u64) -> bool {
    ns != 0 && namespace() == Some(ns) && system::is_gone(pid, start)
}

/// Whether a process is surely at work: the one that started then runs under its id, and ids mean the same here.
pub fn is_at_work(pid: u32, start: u64, ns: u64) -> bool {
    let is_there = ns == namespace().unwrap_or(0) && parent_and_start(pid).is_some_and(|(_, now)| now == start);
    // One that has ended keeps its id until its parent has asked how.
    is_there && !system::is_gone(pid, start)
}

/// Whether it is at work, or somebody has hidden what runs under its id.
pub fn may_be_at_work(pid: u32, start: u64, ns: u64) -> bool {
    is_at_work(pid, start, ns) || is_hidden(pid)
}

/// Whether somebody has put something in the place of what the system says of a process. On other systems nobody can.
pub fn is_hidden(pid: u32) -> bool {
    #[cfg(target_os = "linux")]
    return linux_view::is_hidden(pid);
    #[cfg(not(target_os = "linux"))]
    return pid == 0;
}

/// Whether the process that started then is stopped, or may wait for a file that another keeps under a lease: it runs on later.
pub fn is_held_up(pid: u32, start: u64, ns: u64) -> bool {
    (system::is_stopped(pid) || system::is_lease_awaited()) && is_at_work(pid, start, ns)
}

/// Asks the process that started then to end, as a person would who closes its terminal; returns whether it was there.
pub fn ask_to_end(pid: u32, start: u64, ns: u64) -> bool {
    system::ask_to_end(pid, || is_at_work(pid, start, ns))
}

/// Interrupts the process that started then, as Ctrl-C does; returns whether it was there. Windows has no such signal.
pub fn interrupt(pid: u32, start: u64, ns: u64) -> bool {
    system::interrupt(pid, || is_at_work(pid, start, ns))
}

/// Keeps other processes of the same user away from this one's descriptors and memory, as far as the platform can: what one of
/// them wrote to its standard output would be taken for its answer.
pub fn seal(env: &Environment) {
    if !env.goes_on() {
        system::seal();
    }
}

/// Does nothing for so long, where nobody waits for this process.
pub fn rest(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::clock;

    #[test]
    fn this_process_is_in_the_table() {
        let own = std::process::id();
        let (parent, start) = parent_and_start(own).unwrap();
        let above = ancestors(own);
        assert_eq!(above.first(), Some(&(own, start)));
        assert!(parent == 0 || above.get(1).is_none_or(|it| it.0 == parent), "{above:?}");
        let ns = namespace().unwrap();
        assert!(is_at_work(own, start, ns) && !is_gone(own, start, ns));
        assert!(is_gone(own, start + 1, ns) && !is_at_work(own, start + 1, ns));
        assert!(!is_gone(own, start + 1, ns + 1) && !is_gone(own, start + 1, 0), "ids of another namespace");
        let (_, now_ms) = clock::since_boot_ms();
        assert!(since_boot_ms(start) <= now_ms + TICK_MS, "{} {now_ms}", since_boot_ms(start));
        assert!(clock::boot() != 0 && clock::boot() == clock::boot());
    }

    #[test]
    fn what_this_process_was_started_with_is_told() {
        let own = std::process::id();
        assert_eq!(arguments(own), std::env::args().collect::<Vec<_>>());
        assert_eq!(variable(own, "PATH"), std::env::var("PATH").ok());
        assert_eq!(variable(own, "FUSEBOX_NEVER_SET"), None);
    }

    #[test]
    fn a_process_that_has_ended_is_gone_and_waited_for() {
        // It waits for its input to end.
        let mut child = std::process::Command::new(if cfg!(windows) { "cmd.exe" } else { "cat" })
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (parent, start) = parent_and_start(child.id()).unwrap();
        let ns = namespace().unwrap();
        assert_eq!(parent, std::process::id());
        assert!(!wait_for_end(&[child.id()], Duration::ZERO) && is_at_work(child.id(), start, ns));
        child.kill().unwrap();
        assert!(wait_for_end(&[std::process::id(), child.id()], Duration::from_secs(20)));
        child.wait().unwrap();
        assert!(is_gone(child.id(), start, ns) && !is_at_work(child.id(), start, ns));
        assert!(wait_for_end(&[child.id()], Duration::ZERO));
    }
}
