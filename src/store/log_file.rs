//! The log: records as JSON lines, in the folder of a project that has a policy of its own, else in the state folder.
//!
//! An agent can lay links in its project: the log is written only to a file that was reached without following one.

use std::io::{self, Write};
use std::path::Path;

use crate::domain::record::Record;
use crate::domain::text::rfc3339;
use crate::platform::confined::{Appended, Folder};
use crate::store::private;
use crate::ui::terminal;

/// The file's name.
pub const FILE: &str = "execution-limits.log";
/// The name of the one before it.
const EARLIER: &str = "execution-limits.log.1";
/// Where it lies below a project's folder.
pub const BELOW: &str = "/.claude/logs";
/// Size from which the log is put aside and begun anew.
const ROTATE_AT: u64 = 10 * 1024 * 1024;
/// What keeps all of a folder that Fusebox has made out of a repository.
const IGNORE_ALL: &str = "*\n";
/// What keeps the log alone out of a repository, where the folder is somebody else's.
const IGNORE_LOG: &str = "/execution-limits.log*\n/.gitignore\n";

/// Where a session's records go.
#[derive(Clone, Copy, Debug)]
pub struct LogPlace<'a> {
    /// The folder of a project's log as its session names it; empty where the log is in the state folder.
    pub of_session: &'a str,
    /// The folder of the state.
    pub state: &'a Path,
}

/// Appends records. A project's log that must not be written goes to the state folder; one that cannot be written there stops
/// nothing: the database has the same records.
pub fn append(place: LogPlace, records: &[Record]) {
    let lines = records.iter().filter_map(|record| serde_json::to_string(record).ok());
    let text: String = lines.map(|line| terminal::safe(&line).into_owned() + "\n").collect();
    let log = match project_of(place.of_session).map(in_project) {
        Some(Ok(log)) => Ok(log),
        _ => in_state(place.state),
    };
    let _best_effort = log.and_then(|mut log| log.file.write_all(text.as_bytes()));
}

/// Makes the log of a session's project ready to be written: its folder, and a new file where it has grown long. Returns why it cannot
/// be written; nothing where it can, or is not in the project.
pub fn make_ready(of_session: &str) -> Option<io::Error> {
    in_project(project_of(of_session)?).err()
}

fn project_of(of_session: &str) -> Option<&Path> {
    of_session.strip_suffix(BELOW).map(Path::new)
}

fn in_project(project: &Path) -> io::Result<Appended> {
    let mut folder = Folder::that_is_no_link(project)?;
    for name in BELOW.split('/').skip(1) {
        folder = folder.inside(name)?;
    }
    let log = open(&folder)?;
    if log.is_new {
        let ignored = if folder.is_new { IGNORE_ALL } else { IGNORE_LOG };
        // One that is there already is somebody's.
        let _there = folder.write_new(".gitignore", ignored);
    }
    Ok(log)
}

fn in_state(state: &Path) -> io::Result<Appended> {
    private::make_folder(state).map_err(|cause| io::Error::other(cause.to_string()))?;
    open(&Folder::at(state)?)
}

/// Opens the log in a folder; one that has grown long is put aside.
fn open(folder: &Folder) -> io::Result<Appended> {
    let log = folder.append(FILE)?;
    if log.length <= ROTATE_AT {
        return Ok(log);
    }
    folder.put_aside(FILE, EARLIER, ROTATE_AT)?;
    folder.append(FILE)
}

/// Makes a notice of this time.
pub fn notice(session: &str, what: &str, wall_ms: i64) -> Record {
    Record { at: rfc3339::format(wall_ms), ..Record::notice(session, what) }
}
