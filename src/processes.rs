//! Other processes: who is above whom, and the ending of shell commands that outlive their run.

use std::fs;

use rustix::process::{Pid, Signal, kill_process_group, nice, setsid};

/// Returns a process and those above it with their start times, the nearest first.
pub fn ancestors(pid: u32) -> Vec<(u32, u64)> {
    let mut above = Vec::new();
    let mut at = pid;
    // A client may be a container's first process.
    while at > 0 && above.len() < 64 {
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
    let terminal = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    if terminal.rsplit_once(')')?.1.split_whitespace().nth(TERMINAL)? != "0" {
        return None;
    }
    let taken_in =
        |parent: u32| parent == 1 || fs::read(format!("/proc/{parent}/comm")).is_ok_and(|name| name == b"systemd\n");
    let mut above = ancestors(pid).into_iter();
    above.find(|(at, _)| parent_and_start(*at).is_some_and(|(parent, _)| taken_in(parent))).map(|(_, start)| start)
}

/// Reads a process's parent and its start time in clock ticks since boot.
pub fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

/// Returns a variable of the environment that a process was started with.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut pairs =
        environment.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// Returns the pid namespace that this process's ids are of, where the platform tells.
pub fn namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether a process is surely gone: nothing runs under its id, or something that started at another time.
///
/// Ids of another namespace, or of one that is not known, say nothing.
pub fn is_gone(pid: u32, start: u64, ns: u64) -> bool {
    if ns == 0 || namespace() != Some(ns) {
        return false;
    }
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return !fs::exists(format!("/proc/{pid}")).unwrap_or(true);
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
pub fn seal() {
    #[cfg(target_os = "linux")]
    let _as_before = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Leaves the session of the terminal or client that started this process, and makes way for all others.
pub fn retreat() {
    let _leads_already = setsid();
    let _as_before = nice(19);
}

/// Ends a shell command below a client, with everything it started; returns whether it was found.
///
/// The client runs a command in a shell that leads its own process group, with the command's text in its arguments.
pub fn end_command(client: u32, command: &str) -> bool {
    let groups: Vec<u32> = all().filter(|pid| is_shell_of(*pid, client, command)).collect();
    for pid in &groups {
        if let Some(group) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            // Asking first would mean waiting: the time for that is over.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
    !groups.is_empty()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process is the client's child, leads its group, and runs the command.
fn is_shell_of(pid: u32, client: u32, command: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = fields.split_whitespace().take(3).collect();
    let [_, parent, group] = fields.as_slice() else { return false };
    if *parent != client.to_string() || *group != pid.to_string() {
        return false;
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace() && !"'\"\\\0".contains(*c)).collect::<String>();
    let wanted = bare(command);
    !wanted.is_empty() && bare(&String::from_utf8_lossy(&line)).contains(&wanted)
}
