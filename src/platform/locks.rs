//! The two lock files: one of the session, one for all. They queue fairly where SQLite's own waiting polls.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fs2::FileExt;

use crate::domain::stable_hash;
use crate::error::{Error, Result};
use crate::platform::{changes, files};

/// Sessions share this many lock files, so that they need no tidying.
const SESSION_LOCKS: u64 = 64;
/// How long the session's lock is waited for: it only puts a crowd of one session in line.
const SESSION_PATIENCE: Duration = Duration::from_millis(500);
/// How long the lock for all is waited for; after that SQLite's own lock alone guards the state.
const PATIENCE: Duration = Duration::from_secs(3);
/// The lock file between reports and pruning.
const DETAIL: &str = "locks/detail";

/// The locks held; dropping them or ending the process lets go.
#[derive(Debug)]
pub struct Locks {
    /// Whether the one for all did not come: its holder keeps it, or the file system has no locks.
    pub missed: bool,
    _held: Vec<File>,
}

impl Locks {
    /// Takes the session's lock and then the one for all.
    pub fn acquire(folder: &Path, session: Option<&str>) -> Result<Locks> {
        let mut held = Vec::with_capacity(2);
        if let Some(session) = session {
            let name = format!("locks/session-{:02}", stable_hash::of(session.as_bytes()) % SESSION_LOCKS);
            held.push(lock(&folder.join(name), ALONE, SESSION_PATIENCE)?);
        }
        let for_all = lock(&folder.join("locks/all"), ALONE, PATIENCE)?;
        let missed = for_all.is_none();
        held.push(for_all);
        Ok(Locks { missed, _held: held.into_iter().flatten().collect() })
    }
}

/// How a file is locked: at once, else in turn.
struct Way {
    at_once: fn(&File) -> io::Result<()>,
    in_turn: fn(&File) -> io::Result<()>,
}

const ALONE: Way = Way { at_once: FileExt::try_lock_exclusive, in_turn: FileExt::lock_exclusive };
const SHARED: Way = Way { at_once: FileExt::try_lock_shared, in_turn: FileExt::lock_shared };

/// Locks a file; nothing where its holder does not let go in time, or where the file system has no locks.
fn lock(path: &Path, way: Way, patience: Duration) -> Result<Option<File>> {
    let file = match files::open_to_lock(path) {
        Err(cause) if system::is_odd(&cause) => return Ok(None),
        other => other.map_err(|cause| Error::file("open the lock", path, cause))?,
    };
    match (way.at_once)(&file) {
        Ok(()) => return Ok(Some(file)),
        Err(cause) if is_held(&cause) => {}
        Err(_) => return Ok(None),
    }
    // A waiting thread queues in the kernel, in turn; only this process's patience is limited.
    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        let locked = (way.in_turn)(&file).map(|()| file);
        let _gone = done.send(locked);
    });
    Ok(wait.recv_timeout(patience).ok().and_then(|locked| locked.ok()))
}

/// Whether a lock is another's for now: each system says it in its own number, and not each by a kind of its own.
fn is_held(cause: &io::Error) -> bool {
    cause.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

/// Keeps pruning away while it is held: a report reads the state in many steps.
pub fn hold_detail(folder: &Path) -> Result<Option<File>> {
    lock(&folder.join(DETAIL), SHARED, PATIENCE)
}

/// Takes the right to prune; nothing where a report goes on for long.
pub fn for_pruning(folder: &Path) -> Result<Option<File>> {
    lock(&folder.join(DETAIL), ALONE, PATIENCE)
}

/// Whether lock files work in a folder at all.
pub fn work_in(folder: &Path) -> bool {
    let path = folder.join("locks/trial");
    let works = files::open_to_lock(&path).is_ok_and(|file| file.try_lock_exclusive().is_ok());
    let _gone = changes::remove_file(&path);
    works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path, ALONE, Duration::ZERO).unwrap();
        assert!(held.is_some());
        let second = files::open_to_lock(&path).unwrap();
        let refused = (ALONE.at_once)(&second).unwrap_err();
        assert!(is_held(&refused), "{refused:?} {:?}", refused.kind());
        assert!(!is_held(&io::Error::from(io::ErrorKind::Unsupported)));
        let (sends, comes) = mpsc::channel();
        thread::spawn(move || sends.send(lock(&path, ALONE, PATIENCE).unwrap().is_some()));
        assert!(comes.recv_timeout(Duration::from_millis(20)).is_err(), "it was not waited for");
        drop(held);
        assert!(comes.recv().unwrap());
    }
}
