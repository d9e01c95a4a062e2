//! The two lock files: one of the session, one for all. They queue fairly where SQLite's own waiting polls.

#[cfg(debug_assertions)]
mod once;
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

use crate::domain::stored::stable_hash;
use crate::error::{Error, Result};
use crate::platform::{changes, files};

/// Sessions share this many lock files, so that they need no tidying.
const SESSION_LOCKS: u64 = 64;
/// How long the session's lock is waited for: it only puts a crowd of one session in line.
const SESSION_PATIENCE: Duration = Duration::from_millis(500);
/// How long the lock for all is waited for; after that SQLite's own lock alone guards the state.
const PATIENCE: Duration = Duration::from_secs(3);
/// Watches for clients share this many lock files, so that they need no tidying.
const WATCHED_SESSIONS: u64 = 1_000;
/// The lock file between reports and pruning.
const DETAIL: &str = "locks/detail";

/// The lock file of the one process that watches.
const WATCH: &str = "locks/watch";
/// How long it is waited for: a process that has just ended, or was just started, may still have it.
const WATCH_PATIENCE: Duration = Duration::from_millis(500);
/// How long the right to tell a team is waited for: longer than one sync takes with a store that is slow to answer.
#[cfg(feature = "team")]
const TEAM_PATIENCE: Duration = Duration::from_secs(15);

/// The locks held; dropping them or ending the process lets go. The one for all goes first: who waits for the session's finds it free.
#[derive(Debug)]
pub struct Locks {
    /// Whether the one for all did not come: its holder keeps it, or the file system has no locks.
    pub missed: bool,
    /// Whether one was another's: others are likely to wait for these.
    pub contended: bool,
    _for_all: Option<File>,
    _session: Option<File>,
    #[cfg(debug_assertions)]
    _once: once::Once,
}

impl Locks {
    /// Takes the session's lock and then the one for all.
    pub fn acquire(folder: &Path, session: Option<&str>) -> Result<Locks> {
        #[cfg(debug_assertions)]
        let once = once::Once::of(folder);
        let (mut of_session, mut session_waited) = (None, false);
        if let Some(session) = session {
            let name = format!("locks/session-{:02}", stable_hash::of(session.as_bytes()) % SESSION_LOCKS);
            (of_session, session_waited) = lock(&folder.join(name), ALONE, SESSION_PATIENCE)?;
        }
        let (for_all, waited) = lock(&folder.join("locks/all"), ALONE, PATIENCE)?;
        Ok(Locks {
            missed: for_all.is_none(),
            contended: session_waited || waited,
            _for_all: for_all,
            _session: of_session,
            #[cfg(debug_assertions)]
            _once: once,
        })
    }
}

/// How a file is locked: at once, else in turn.
struct Way {
    at_once: fn(&File) -> io::Result<()>,
    in_turn: fn(&File) -> io::Result<()>,
}

const ALONE: Way = Way { at_once: FileExt::try_lock_exclusive, in_turn: FileExt::lock_exclusive };
const SHARED: Way = Way { at_once: FileExt::try_lock_shared, in_turn: FileExt::lock_shared };

/// Locks a file, and says whether it was another's; nothing where its holder does not let go in time, or where the file system has
/// no locks.
fn lock(path: &Path, way: Way, patience: Duration) -> Result<(Option<File>, bool)> {
    let file = match files::open_to_lock(path) {
        Err(cause) if system::is_odd(&cause) => return Ok((None, false)),
        other => other.map_err(|cause| Error::file("open the lock", path, cause))?,
    };
    match (way.at_once)(&file) {
        Ok(()) => return Ok((Some(file), false)),
        Err(cause) if is_held(&cause) => {}
        Err(_) => return Ok((None, false)),
    }
    // A waiting thread queues in the kernel, in turn; only this process's patience is limited.
    let (done, wait) = mpsc::channel();
    let waits = thread::Builder::new().spawn(move || {
        let locked = (way.in_turn)(&file).map(|()| file);
        let _gone = done.send(locked);
    });
    if waits.is_err() {
        // The system gives no more threads: the lock is missed.
        return Ok((None, true));
    }
    Ok((wait.recv_timeout(patience).ok().and_then(|locked| locked.ok()), true))
}

/// Whether a lock is another's for now: each system says it in its own number, and not each by a kind of its own.
fn is_held(cause: &io::Error) -> bool {
    cause.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

/// Keeps pruning away while it is held: a report reads the state by many connections.
pub fn hold_detail(folder: &Path) -> Result<Option<File>> {
    Ok(lock(&folder.join(DETAIL), SHARED, PATIENCE)?.0)
}

/// Takes the right to prune; nothing where a report goes on for long.
pub fn for_pruning(folder: &Path) -> Result<Option<File>> {
    Ok(lock(&folder.join(DETAIL), ALONE, PATIENCE)?.0)
}

/// The right to what one process does at a time.
#[derive(Debug)]
pub struct Right {
    _file: Option<File>,
}

/// Takes the right to watch; nothing where another process has it.
pub fn for_watching(folder: &Path) -> Result<Option<Right>> {
    let (file, is_others) = lock(&folder.join(WATCH), ALONE, WATCH_PATIENCE)?;
    Ok((file.is_some() || !is_others).then_some(Right { _file: file }))
}

/// Takes the right to count transcripts again; nothing where another process has it.
pub fn for_recounting(folder: &Path) -> Result<Option<Right>> {
    let (file, is_others) = lock(&folder.join("locks/recount"), ALONE, Duration::ZERO)?;
    Ok((file.is_some() || !is_others).then_some(Right { _file: file }))
}

/// Takes the right to watch for clients below a session's; nothing where another process has it.
pub fn for_clients(folder: &Path, session: &str) -> Result<Option<Right>> {
    let (file, is_others) = lock(&folder.join(of_clients(session)), ALONE, Duration::ZERO)?;
    Ok((file.is_some() || !is_others).then_some(Right { _file: file }))
}

/// Whether a process watches for clients below a session's.
pub fn are_clients_watched(folder: &Path, session: &str) -> bool {
    let file = files::open_to_lock(&folder.join(of_clients(session)));
    file.is_ok_and(|file| file.try_lock_exclusive().is_err_and(|cause| is_held(&cause)))
}

/// Returns the lock file of the watch for clients. Sessions that share one have one watch, of the session that began it.
fn of_clients(session: &str) -> String {
    format!("locks/clients-{:03}", stable_hash::of(session.as_bytes()) % WATCHED_SESSIONS)
}

/// Takes the right to tell a team what this machine has spent; nothing where another process has it.
#[cfg(feature = "team")]
pub fn for_team(folder: &Path) -> Result<Option<Right>> {
    let (file, is_others) = lock(&folder.join("locks/team"), ALONE, TEAM_PATIENCE)?;
    Ok((file.is_some() || !is_others).then_some(Right { _file: file }))
}

/// The lock file that shows whether locks work.
const TRIAL: &str = "locks/trial";

/// Whether lock files work in a folder at all.
pub fn work_in(folder: &Path) -> bool {
    let path = folder.join(TRIAL);
    let tried = files::open_to_lock(&path).and_then(|file| file.try_lock_exclusive());
    let _gone = changes::remove_file(&path);
    // One that another process holds for now works, too.
    tried.map_or_else(|cause| is_held(&cause), |()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (held, waited) = lock(&path, ALONE, Duration::ZERO).unwrap();
        assert!(held.is_some() && !waited);
        let second = files::open_to_lock(&path).unwrap();
        let refused = (ALONE.at_once)(&second).unwrap_err();
        assert!(is_held(&refused), "{refused:?} {:?}", refused.kind());
        assert!(!is_held(&io::Error::from(io::ErrorKind::Unsupported)));
        let (sends, comes) = mpsc::channel();
        let locks = move || sends.send(lock(&path, ALONE, PATIENCE).unwrap());
        thread::Builder::new().spawn(locks).unwrap();
        assert!(comes.recv_timeout(Duration::from_millis(20)).is_err(), "it was not waited for");
        drop(held);
        let (held, waited) = comes.recv().unwrap();
        assert!(held.is_some() && waited);
    }

    #[test]
    fn a_trial_that_is_under_way_shows_that_locks_work() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!work_in(folder.path()), "there is no folder for them");
        changes::make_folders(&folder.path().join("locks")).unwrap();
        let other = files::open_to_lock(&folder.path().join(TRIAL)).unwrap();
        other.try_lock_exclusive().unwrap();
        assert!(work_in(folder.path()));
    }
}
