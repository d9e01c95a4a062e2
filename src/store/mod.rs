//! The state: one SQLite database and its lock files, below `$FUSEBOX_HOME`.

mod budget;
pub mod damaged;
mod day_sum;
pub mod event;
pub mod health;
pub mod limits_off;
pub mod log_file;
pub mod metadata;
mod policy;
pub mod private;
pub mod prune;
pub mod response;
mod run;
mod save;
pub mod schema;
mod seal;
mod sealed_metadata;
mod session;
mod sqlite_error;
#[cfg(feature = "team")]
pub mod team;
#[cfg(test)]
mod tests;
mod tool_call;
pub mod trust;
mod value;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags};

use crate::domain::limit_set::LimitSet;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::environment::Environment;
use crate::platform::file_info::{self, FileInfo};
use crate::platform::locks::Locks;
use crate::platform::processes;
use crate::store::schema::Version;

/// The database's name.
pub const FILE: &str = "state.db";
/// How long SQLite itself waits where a lock file was not to be had. With the lock files' patience it stays below the five
/// seconds that the client gives the shortest of its hooks.
const BUSY: Duration = Duration::from_secs(1);
/// Size of the write-ahead log from which it is folded back: 80 frames of a page and its header. Each frame is read again by
/// every call, each folding back costs three syncs.
const WAL_LIMIT: u64 = 80 * (schema::PAGE + 24);
/// Size of the write-ahead log from which it is folded back by a call that had to wait for others: more may wait now, and each would wait for
/// those syncs.
const WAL_LIMIT_IN_CROWD: u64 = 3 * WAL_LIMIT;

/// The open database, with the locks that are held while it is. They go last: who takes one next finds the database free.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    folder: PathBuf,
    /// The sets of limits that were read or written, by their numbers, each with the hash of its text.
    limit_sets: RefCell<BTreeMap<i64, (LimitSet, u64)>>,
    /// The names of the facts that were read and not believed.
    altered_metadata: RefCell<BTreeSet<String>>,
    locks: Locks,
}

impl Store {
    /// Opens the state for a command that looks or steers.
    pub fn open(env: &Environment) -> Result<Store> {
        Store::open_for(&folder(env)?, None)
    }

    /// Opens the state for one event of a session: its lock first, then the one lock for all.
    pub fn open_for(folder: &Path, session: Option<&str>) -> Result<Store> {
        private::make_folder(folder)?;
        let locks = Locks::acquire(folder, session)?;
        let path = folder.join(FILE);
        Ok(Store {
            conn: connect(&path, schema::migrate)?,
            folder: folder.to_path_buf(),
            limit_sets: RefCell::default(),
            altered_metadata: RefCell::default(),
            locks,
        })
    }

    /// Opens the state for a hook: however it is let go, its close does not fold the write-ahead log back.
    pub fn open_for_hook(folder: &Path, session: &str) -> Result<Store> {
        let store = Store::open_for(folder, Some(session))?;
        store.keep_log();
        Ok(store)
    }

    /// Opens a state that is there to look something up, and makes nothing new of it. Returns `None` where there is none, where it
    /// is another user's, and where it is of an early version: nobody goes on with that one.
    pub fn open_as_it_is(folder: &Path) -> Result<Option<Store>> {
        let path = folder.join(FILE);
        let is_own = |meta: FileInfo| meta.is_file() && meta.owner == processes::user_id();
        if !file_info::of_itself(&path).is_ok_and(is_own) {
            return Ok(None);
        }
        let locks = Locks::acquire(folder, None)?;
        let conn = match connect(&path, |_| Err(Error::failed("the state is of another version"))) {
            Err(cause) if cause.kind == ErrorKind::Outdated => return Ok(None),
            other => other?,
        };
        let store = Store {
            conn,
            folder: folder.to_path_buf(),
            limit_sets: RefCell::default(),
            altered_metadata: RefCell::default(),
            locks,
        };
        store.keep_log();
        Ok(Some(store))
    }

    /// Begins to write.
    pub fn begin(&self) -> Result<()> {
        // Until now others may have written.
        self.limit_sets.borrow_mut().clear();
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        Ok(())
    }

    /// Makes what was written since [`Store::begin`] durable.
    pub fn commit(&self) -> Result<()> {
        self.conn.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Compiles a statement.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>> {
        #[cfg(test)]
        tests::scans_no_large_table(&self.conn, sql);
        Ok(self.conn.prepare_cached(sql)?)
    }

    /// Whether a lock did not come, so that SQLite's own alone kept others out.
    pub fn is_unlocked(&self) -> bool {
        self.locks.missed
    }

    /// Returns the folder of the state.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Folds the write-ahead log back once it is long, and lets the database and the locks go. A plain close would fold it back every
    /// time. The end of the process would let them go later: once its memory is taken down and its other thread has ended.
    pub fn leave(self) {
        let log = self.folder.join("state.db-wal");
        let limit = if self.locks.contended { WAL_LIMIT_IN_CROWD } else { WAL_LIMIT };
        if file_info::of(&log).is_ok_and(|meta| meta.length > limit) {
            let _later = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        self.keep_log();
    }

    /// Has the close leave the write-ahead log as it is.
    fn keep_log(&self) {
        let _slower_close = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }
}

/// Returns the folder of the state.
pub fn folder(env: &Environment) -> Result<PathBuf> {
    env.state_dir().ok_or_else(|| {
        Error::failed("there is no folder for the state: neither `FUSEBOX_HOME` nor `HOME` is set")
            .hint("set FUSEBOX_HOME to a folder of your own")
    })
}

/// Whether there is a state yet: opening it would make one.
pub fn is_there(env: &Environment) -> bool {
    env.state_dir().is_some_and(|folder| file_info::exists(&folder.join(FILE)))
}

/// Whether a connection keeps the database to itself while it is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// The lock file already keeps other hooks out, so SQLite need not coordinate: no shared memory, 40 system calls less.
    Alone,
    /// Somebody else has the database open, with a tool of their own.
    Shared,
}

/// What is done with a database that lacks tables.
type Prepare = fn(&Connection) -> Result<()>;

/// Opens the database, alone where nobody else has it open.
fn connect(path: &Path, prepare: Prepare) -> Result<Connection> {
    private::check_database(path)?;
    match connect_as(path, Sharing::Alone, prepare) {
        Err(cause) if cause.kind == ErrorKind::Busy => {
            private::check_beside(path, "-shm")?;
            connect_as(path, Sharing::Shared, prepare)
        }
        other => other,
    }
}

fn connect_as(path: &Path, sharing: Sharing, prepare: Prepare) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    // The schema has none: whoever has put one in there, it does nothing.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    match sharing {
        // Alone is compiled in as SQLite's default (.cargo/config.toml), as is `synchronous=NORMAL`: each PRAGMA would cost
        // a call as much as a read. Without those flags a call is slower and as safe.
        Sharing::Alone => conn.busy_timeout(Duration::ZERO)?,
        Sharing::Shared => {
            conn.busy_timeout(BUSY)?;
            conn.execute_batch("PRAGMA locking_mode=NORMAL")?;
        }
    }
    match schema::version(&conn)? {
        Version::Ready => {}
        Version::Behind(_) => prepare(&conn)?,
    }
    Ok(conn)
}
