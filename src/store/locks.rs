//! The two lock files: one of the session, one for all. They queue fairly where SQLite's own waiting polls.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fs2::FileExt;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;

use crate::error::{Error, Result};

/// Sessions share this many lock files, so that they need no tidying.
const SESSION_LOCKS: u64 = 64;
/// How long a lock is waited for; after that SQLite's own lock alone guards the state.
const PATIENCE: Duration = Duration::from_secs(3);

/// A descriptor above all that a hook opens.
const LAST: i32 = 64;

/// The locks held; dropping them or ending the process lets go.
#[derive(Debug)]
pub struct Locks {
    _held: Vec<File>,
}

impl Locks {
    /// Takes the session's lock and then the one for all.
    pub fn take(folder: &Path, session: Option<&str>) -> Result<Locks> {
        let mut held = Vec::with_capacity(2);
        if let Some(session) = session {
            let mut hasher = DefaultHasher::new();
            session.hash(&mut hasher);
            held.push(lock(&folder.join(format!("locks/session-{:02}", hasher.finish() % SESSION_LOCKS)))?);
        }
        held.push(lock(&folder.join("locks/all"))?.map(let_go_last).transpose()?);
        Ok(Locks { _held: held.into_iter().flatten().collect() })
    }
}

/// Moves a lock to a high descriptor. A process that ends closes the low ones first: the database, which it never closes
/// itself, has to be free when the next in the queue wakes up, or that one finds it busy and has to poll.
fn let_go_last(lock: File) -> Result<File> {
    let moved = fcntl_dupfd_cloexec(&lock, LAST).map(File::from);
    moved.map_err(|cause| Error::failed(format!("cannot keep the lock: {cause}")))
}

/// Locks a file; nothing where its holder does not let go in time.
fn lock(path: &Path) -> Result<Option<File>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).map(File::from);
    let file = file.map_err(|cause| Error::file("open the lock", path, cause))?;
    if file.try_lock_exclusive().is_ok() {
        return Ok(Some(file));
    }
    // A waiting thread queues in the kernel, in turn; only this process's patience is limited.
    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        let locked = file.lock_exclusive().map(|()| file);
        let _gone = done.send(locked);
    });
    match wait.recv_timeout(PATIENCE) {
        Ok(Ok(file)) => Ok(Some(file)),
        Ok(Err(cause)) => Err(Error::file("lock", path, cause)),
        Err(_) => Ok(None),
    }
}

/// Whether lock files work in a folder at all.
pub fn work_in(folder: &Path) -> bool {
    let path = folder.join("locks/trial");
    let works = File::create(&path).is_ok_and(|file| file.try_lock_exclusive().is_ok());
    let _gone = fs::remove_file(path);
    works
}
