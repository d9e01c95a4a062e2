//! What /proc shows of this process: its id there, the space of ids, and every process above it.
//!
//! Whoever may mount can put something else in the place of /proc or of a part of it. So what a guard rests on is read from
//! `procfs` alone and through no further mount.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat, openat2, readlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::platform::clock;
use crate::platform::processes::tree::{Above, MOST_ABOVE, Tree, UNSEEN};

/// The kernel's number for `procfs`.
const PROCFS: rustix::fs::FsWord = 0x9FA0;
/// The pid namespace that all others are below, by the kernel's fixed number.
const OUTERMOST: u64 = 0xEFFF_FFFC;
/// How much of a process is read at once, and the most that is, in bytes.
const USUAL: usize = 4 << 10;
const LARGEST: u64 = 64 << 10;
/// How often the processes above are read anew where one of them ends meanwhile.
const TRIES: u32 = 3;

/// The mounted /proc, read through no other mount.
pub struct Procfs(OwnedFd);

impl Procfs {
    /// Opens /proc; nothing where something else lies there.
    pub fn open() -> Option<Procfs> {
        let folder = openat(CWD, "/proc", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        (fstatfs(&folder).ok()?.f_type == PROCFS).then_some(Procfs(folder))
    }

    fn file(&self, name: &str, how: OFlags) -> rustix::io::Result<OwnedFd> {
        let how = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat2(&self.0, name, how, Mode::empty(), ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS) {
            // Older kernels, and sandboxes that know none of its kind.
            Err(Errno::NOSYS | Errno::PERM) => self.file_by_folder(name, how),
            found => found,
        }
    }

    /// Opens a file below /proc, a folder and then what is in it: neither may be on another mount.
    fn file_by_folder(&self, name: &str, how: OFlags) -> rustix::io::Result<OwnedFd> {
        let within = |folder: &OwnedFd, name: &str, how: OFlags| {
            let found = openat(folder, name, how, Mode::empty())?;
            if fstat(&found)?.st_dev == fstat(&self.0)?.st_dev { Ok(found) } else { Err(Errno::XDEV) }
        };
        match name.split_once('/') {
            None => within(&self.0, name, how),
            Some((folder, rest)) => {
                let to_folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                within(&within(&self.0, folder, to_folder)?, rest, how)
            }
        }
    }

    fn text(&self, name: &str) -> io::Result<String> {
        // What most of them hold, so that it takes one reading.
        let mut bytes = Vec::with_capacity(USUAL);
        File::from(self.file(name, OFlags::RDONLY)?).take(LARGEST).read_to_end(&mut bytes)?;
        // The kernel cuts a program's name wherever its fifteenth byte ends.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn link(&self, name: &str) -> Option<String> {
        let link = self.file(name, OFlags::PATH).ok()?;
        readlinkat(&link, "", Vec::new()).ok()?.into_string().ok()
    }

    /// Reads the namespace of a process's ids.
    fn namespace_of(&self, pid: u32) -> Option<u64> {
        self.link(&format!("{pid}/ns/pid"))?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
    }

    /// Reads the ids of a process, from the space of ids that is shown here to its own.
    fn ids(&self, pid: u32) -> Option<Vec<u32>> {
        let status = self.text(&format!("{pid}/status")).ok()?;
        let Some(line) = status.lines().find_map(|line| line.strip_prefix("NSpid:")) else { return Some(vec![pid]) };
        line.split_whitespace().map(|id| id.parse().ok()).collect()
    }

    /// Reads a process and its parent; an error where it is not shown, or another one in its place.
    fn process(&self, pid: u32) -> io::Result<(Above, u32)> {
        let stat = self.text(&format!("{pid}/stat"))?;
        read_stat(&stat).filter(|(it, _)| it.pid == pid).ok_or_else(|| io::Error::other("another process's"))
    }
}

/// Reads what /proc says of a process: it, and its parent.
fn read_stat(stat: &str) -> Option<(Above, u32)> {
    let (id, rest) = stat.split_once(" (")?;
    let (name, fields) = rest.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let start = clock::unshifted_ticks(fields.nth(17)?.parse().ok()?);
    Some((Above { pid: id.parse().ok()?, start, name: name.to_owned() }, parent))
}

/// How /proc shows this process.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its id there.
    pub id: u32,
    /// Whether the ids there are of this process's own namespace.
    pub is_own: bool,
}

/// Returns how /proc shows this process; nothing where it does not.
pub fn view(procfs: &Procfs) -> Option<View> {
    let id: u32 = procfs.link("self")?.parse().ok()?;
    let ids = procfs.ids(id)?;
    let is_this = ids.first() == Some(&id) && ids.last() == Some(&std::process::id());
    is_this.then_some(View { id, is_own: ids.len() == 1 })
}

/// Returns the namespace of the ids that /proc shows, where that is told. It is looked up once.
pub fn namespace() -> Option<u64> {
    shown().0
}

/// Whether the ids that /proc shows are surely those by which the kernel tells this process of others.
pub fn shows_own_ids() -> bool {
    shown().1
}

fn shown() -> (Option<u64>, bool) {
    static SHOWN: OnceLock<(Option<u64>, bool)> = OnceLock::new();
    *SHOWN.get_or_init(|| look_up_shown().unwrap_or_default())
}

fn look_up_shown() -> Option<(Option<u64>, bool)> {
    let procfs = Procfs::open()?;
    let View { id, is_own } = view(&procfs)?;
    if is_own {
        return Some((procfs.namespace_of(id), true));
    }
    // The first one above that has no other id is of the namespace that is shown.
    let outside = chain(&procfs, id).into_iter().find(|it| procfs.ids(it.pid).is_some_and(|ids| ids.len() == 1))?;
    Some((procfs.namespace_of(outside.pid), false))
}

/// Returns a process and those above it as far as they are shown, the nearest first.
fn chain(procfs: &Procfs, pid: u32) -> Vec<Above> {
    let (mut above, mut at) = (Vec::new(), pid);
    while at > 0 && above.len() < MOST_ABOVE {
        let Ok((process, parent)) = procfs.process(at) else { break };
        above.push(process);
        at = parent;
    }
    above
}

/// Returns the id by which /proc shows the process above this one that knows itself by `pid`. Where it shows this process's own
/// namespace, that is the same id.
pub fn shown_id(pid: u32) -> Option<u32> {
    let procfs = Procfs::open()?;
    let View { id, is_own } = view(&procfs)?;
    if is_own {
        return Some(pid);
    }
    let depth = procfs.ids(id)?.len();
    let is_it = |it: &Above| procfs.ids(it.pid).is_some_and(|ids| ids.len() == depth && ids.last() == Some(&pid));
    let above = chain(&procfs, id);
    let found = above.iter().skip(1).find(|it| is_it(it)).or_else(|| above.get(1));
    found.map(|it| it.pid)
}

/// Reads this process and all above it, up to the first of the namespace; the reason where that cannot be done.
pub fn tree() -> Result<Tree, &'static str> {
    let procfs = Procfs::open().ok_or("/proc is not the list of processes")?;
    let View { id, is_own } = view(&procfs).ok_or("/proc does not show this one")?;
    if !is_own {
        return Err("/proc shows those of another pid namespace");
    }
    let ns = procfs.namespace_of(id).ok_or("its pid namespace is not told")?;
    let processes = (0..TRIES).find_map(|_| whole_chain(&procfs, id)).ok_or(UNSEEN)?;
    Ok(Tree { processes, ns, is_outermost: ns == OUTERMOST })
}

/// Reads a process and all above it; nothing where one of them is not shown. One of another user's may be kept from this one
/// (`hidepid`): it is no client of this user's.
fn whole_chain(procfs: &Procfs, pid: u32) -> Option<Vec<Above>> {
    let (mut above, mut at) = (Vec::new(), pid);
    while at > 0 {
        match procfs.process(at) {
            Ok((process, parent)) if above.len() < MOST_ABOVE => {
                above.push(process);
                at = parent;
            }
            // What something else lies over was hidden by somebody.
            Err(cause) if is_kept_back(&cause) && is_of_another(at) => break,
            _ => return None,
        }
    }
    Some(above)
}

fn is_kept_back(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// Whether something lies over what /proc says of a process, or over /proc: whoever did that hides a process that may be there.
pub fn is_hidden(pid: u32) -> bool {
    let Some(procfs) = Procfs::open() else { return true };
    procfs.process(pid).is_err_and(|cause| cause.raw_os_error() == Some(Errno::XDEV.raw_os_error()))
}

/// Whether a process is there, and another user's.
fn is_of_another(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_shown_with_all_above_it() {
        let procfs = Procfs::open().unwrap();
        let seen = view(&procfs).unwrap();
        assert!(seen.is_own && seen.id == std::process::id(), "{seen:?}");
        assert_eq!(shown_id(7), Some(7));
        let tree = tree().unwrap();
        assert_eq!(Some(tree.ns), namespace());
        assert_eq!(tree.processes.first().map(|it| it.pid), Some(seen.id));
        let (last, parent) = procfs.process(tree.processes.last().unwrap().pid).unwrap();
        assert!(parent == 0 || is_of_another(parent), "{last:?} {parent}");
    }

    #[test]
    fn a_name_that_the_kernel_cuts_inside_a_letter_hides_no_process() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("überprüfen-läuft");
        std::fs::copy("/bin/cat", &program).unwrap();
        let mut command = std::process::Command::new(&program);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let seen = Procfs::open().unwrap().process(child.id());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(seen.unwrap().0.pid, child.id());
    }

    #[test]
    fn what_stands_in_for_another_process_is_no_process() {
        let stat = "12 (a) b (c)) S 7 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 4711 9";
        let (process, parent) = read_stat(stat).unwrap();
        assert_eq!((process.pid, process.name.as_str(), parent), (12, "a) b (c)", 7));
        assert_eq!(process.start, clock::unshifted_ticks(4711));
        assert!(read_stat("12 (a").is_none() && read_stat("").is_none());
        assert!(Procfs::open().unwrap().process(0).is_err());
    }
}
