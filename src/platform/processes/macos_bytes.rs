//! What macOS answers about processes, read from its bytes: `kinfo_proc`, `KERN_PROCARGS2` and `vnode_fdinfowithpath`.
//!
//! The layouts are those of `sys/sysctl.h`, `sys/proc.h` and `sys/proc_info.h`, the same on both processors. The tests build the bytes
//! from structures with the headers' fields, so they run on every system.

/// How long an entry of the process table is: `struct kinfo_proc`.
pub const ENTRY: usize = 648;
/// How long the answer about an open file is: `struct vnode_fdinfowithpath`.
pub const OPEN_FILE: usize = 1200;

/// Where the fields of an entry are.
const START_SECONDS: usize = 0;
const START_MICROSECONDS: usize = 8;
const STATUS: usize = 36;
const PID: usize = 40;
const PARENT: usize = 560;
const GROUP: usize = 564;
const TERMINAL: usize = 572;
/// Where the path of an open file is.
const FILE_PATH: usize = 176;

/// The status of a process that has ended and whose parent has not asked for it (`SZOMB`).
const ENDED: u8 = 5;
/// The status of a process that is stopped (`SSTOP`).
const STOPPED: u8 = 4;
/// What stands in the place of a terminal where there is none (`NODEV`).
const NO_TERMINAL: i32 = -1;

/// An entry of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub pid: u32,
    /// The id of its parent.
    pub parent: u32,
    /// The id of its group.
    pub group: u32,
    /// When it was started, in microseconds since 1970.
    pub start: u64,
    /// Whether it has a terminal.
    pub has_terminal: bool,
    /// Whether it has ended.
    pub has_ended: bool,
    /// Whether it is stopped.
    pub is_stopped: bool,
}

/// Reads the entries of the process table; what is left over at the end is none.
pub fn entries(bytes: &[u8]) -> Vec<Entry> {
    bytes.chunks_exact(ENTRY).filter_map(entry).collect()
}

/// Reads one entry; nothing where the bytes are too few, or a number is none that an entry has.
pub fn entry(bytes: &[u8]) -> Option<Entry> {
    let bytes = bytes.get(..ENTRY)?;
    let id = |at| u32::try_from(number(bytes, at)?).ok();
    let seconds = bytes.get(START_SECONDS..START_SECONDS + 8)?.try_into().ok().map(i64::from_ne_bytes)?;
    let microseconds = u64::try_from(number(bytes, START_MICROSECONDS)?).ok()?;
    Some(Entry {
        pid: id(PID)?,
        parent: id(PARENT)?,
        group: id(GROUP)?,
        start: u64::try_from(seconds).ok()?.checked_mul(1_000_000)?.checked_add(microseconds)?,
        has_terminal: number(bytes, TERMINAL)? != NO_TERMINAL,
        has_ended: bytes[STATUS] == ENDED,
        is_stopped: bytes[STATUS] == STOPPED,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at + 4)?.try_into().ok().map(i32::from_ne_bytes)
}

/// What a process was started with.
#[derive(Debug, PartialEq, Eq)]
pub struct StartedWith<'a> {
    /// Its arguments, its own name among them.
    pub arguments: Vec<&'a [u8]>,
    /// Its environment, each variable ended by a zero byte; empty where the system keeps it to itself.
    pub environment: &'a [u8],
}

/// Reads what a process was started with: the number of arguments, the program's path, zero bytes, arguments, environment.
pub fn started_with(bytes: &[u8]) -> Option<StartedWith<'_>> {
    let count = usize::try_from(number(bytes, 0)?).ok()?;
    let (_program, rest) = text(&bytes[4..])?;
    let mut rest = &rest[rest.iter().take_while(|byte| **byte == 0).count()..];
    let mut arguments = Vec::new();
    for _ in 0..count {
        let (argument, after) = text(rest)?;
        arguments.push(argument);
        rest = after;
    }
    let mut end = 0;
    while let Some((variable, _)) = rest.get(end..).and_then(text).filter(|(variable, _)| !variable.is_empty()) {
        end += variable.len() + 1;
    }
    Some(StartedWith { arguments, environment: &rest[..end.min(rest.len())] })
}

/// Takes off the bytes before the first zero byte; all of them where there is none.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Some((&bytes[..end], bytes.get(end + 1..).unwrap_or_default()))
}

/// Reads the path of an open file; nothing where it has none.
pub fn file_path(bytes: &[u8]) -> Option<&[u8]> {
    let (path, _) = text(bytes.get(FILE_PATH..OPEN_FILE)?)?;
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests;
