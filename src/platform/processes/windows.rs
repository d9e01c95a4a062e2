//! The process table of Windows: parents by id and moment, ends by what is held open.

use std::path::PathBuf;
use std::time::Duration;

use crate::platform::clock;
use crate::platform::processes::windows_bytes;
use crate::platform::windows::{self, Opened};

/// How far the clock of start times and the one since boot may be apart, in milliseconds.
pub const TICK_MS: u64 = 20;
/// There is one space of process ids.
const ONLY_NAMESPACE: u64 = 1;
/// What stands for the user: ids of users are no numbers here.
const ONE_USER: u32 = 0;
/// What stands for a parent that is gone.
const NOBODY: u32 = 0;
/// How long the end of what was killed is waited for.
const END_PATIENCE: Duration = Duration::from_millis(100);
/// The most generations below a process that are ended with it.
const DEEPEST: usize = 64;

/// Returns how many milliseconds after the boot a process was started, of its start time in microseconds since 1970.
pub fn since_boot_ms(start: u64) -> u64 {
    clock::since_boot_of_wall_ms(start / 1000)
}

/// Returns the id of the user that this process acts for: the same for all.
pub fn user_id() -> u32 {
    ONE_USER
}

/// Reads a process's parent and its start time in microseconds since 1970. A parent that is gone is 0.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let start = start_of(pid)?;
    let (_, parent) = windows::processes().into_iter().find(|(it, _)| *it == pid)?;
    // The id of a parent that has gone may be another's by now, who came later.
    let is_older = start_of(parent).is_some_and(|before| before <= start);
    Some((if is_older { parent } else { NOBODY }, start))
}

fn start_of(pid: u32) -> Option<u64> {
    let process = Opened::to_ask(pid).ok()??;
    process.start().filter(|_| !process.has_ended())
}

/// Names this process's console, or none where it has none; nothing of others, of which that is not told.
pub fn terminal(pid: u32) -> Option<Option<String>> {
    (pid == std::process::id()).then(|| windows::has_console().then(String::new))
}

/// Whether a process takes in those whose parents have gone: nobody does.
pub fn takes_in(pid: u32) -> bool {
    pid == NOBODY
}

/// Returns the arguments that a process was started with, its own name among them; none where the system does not tell.
pub fn arguments(pid: u32) -> Vec<String> {
    let line = windows::command_line(pid).and_then(|bytes| windows_bytes::text_behind(&bytes));
    line.map(|line| windows_bytes::arguments(&line)).unwrap_or_default()
}

/// Returns the environment that a process was started with, each variable ended by a zero byte; nothing where it is another user's.
pub fn environment(pid: u32) -> Option<Vec<u8>> {
    windows::environment(pid).map(|bytes| windows_bytes::environment(&bytes))
}

/// Returns nothing: Windows does not tell which files another process has open.
pub fn outputs(_pid: u32) -> Vec<PathBuf> {
    Vec::new()
}

/// Returns the space of process ids that this process's id is of.
pub fn namespace() -> Option<u64> {
    Some(ONLY_NAMESPACE)
}

/// Leases on files are Linux's.
pub fn is_lease_awaited() -> bool {
    false
}

/// Whether a process is stopped: the system has no such state.
pub fn is_stopped(_pid: u32) -> bool {
    false
}

/// Whether nothing runs under an id, or something that started at another time.
pub fn is_gone(pid: u32, start: u64) -> bool {
    match Opened::to_ask(pid) {
        Ok(None) => true,
        Ok(Some(process)) => process.has_ended() || process.start().is_some_and(|now| now != start),
        Err(_) => false,
    }
}

/// Nothing is sealed: what another process of the user's may do with this one, the system does not let it say.
pub fn seal() {}

/// Does nothing: a program in the background is started outside of the console and of the job.
pub fn leave_session() {}

/// Makes way for all others.
pub fn retreat() {
    windows::make_way();
}

/// Returns a child of a process: its id and its start time. There are no groups, so each one leads what is below it.
pub fn leaders_below(parent: u32) -> impl Iterator<Item = (u32, u64)> {
    children(parent).into_iter()
}

fn children(parent: u32) -> Vec<(u32, u64)> {
    let Some(since) = start_of(parent) else { return Vec::new() };
    let below = windows::processes().into_iter().filter(|(pid, above)| *above == parent && *pid != parent);
    let started = below.filter_map(|(pid, _)| Some((pid, start_of(pid)?)));
    started.filter(|(_, start)| *start >= since).collect()
}

/// Ends a process, which cannot be asked: the one that `is_it` still says yes to once nothing else can take its id. Returns whether
/// it was ended.
pub fn ask_to_end(pid: u32, is_it: impl Fn() -> bool) -> bool {
    Opened::to_end(pid).is_some_and(|held| is_it() && held.end())
}

/// Interrupts nothing: no signal reaches one process of another console.
pub fn interrupt(_pid: u32, _is_it: impl Fn() -> bool) -> bool {
    false
}

/// Ends a process with all that is below it: the one that `is_it` still says yes to once nothing else can take its id. Returns whether
/// it was ended.
pub fn end_group(pid: u32, is_it: impl Fn() -> bool) -> bool {
    // As long as this is open, the id is this process's.
    let Some(held) = Opened::to_end(pid) else { return false };
    if !is_it() {
        return false;
    }
    // Those below are looked for while what started them still has its id.
    let below = below(pid);
    let is_ended = held.end();
    for process in &below {
        process.end();
    }
    // The next that is looked for must not be this one again.
    let _gone = Opened::wait_for_one(&[&held], END_PATIENCE);
    is_ended
}

/// Holds all processes below one.
fn below(pid: u32) -> Vec<Opened> {
    let (mut held, mut parents) = (Vec::new(), vec![pid]);
    for _ in 0..DEEPEST {
        let found: Vec<u32> = parents.iter().flat_map(|parent| children(*parent)).map(|(pid, _)| pid).collect();
        if found.is_empty() {
            break;
        }
        held.extend(found.iter().filter_map(|pid| Opened::to_end(*pid)));
        parents = found;
    }
    held
}

/// Waits until one of some processes has ended, or so long by a clock that stops while the machine sleeps; returns whether one
/// has.
pub fn wait_for_end(pids: &[u32], patience: Duration) -> bool {
    let mut held = Vec::new();
    for pid in pids {
        match Opened::to_ask(*pid) {
            Ok(Some(process)) => held.push(process),
            Ok(None) => return true,
            Err(_) => {}
        }
    }
    Opened::wait_for_one(&held.iter().collect::<Vec<_>>(), patience)
}
