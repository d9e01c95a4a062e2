//! Lock files of Windows: the system lets go of what an ended process held when it comes to it.

use std::fs::File;
use std::io;

/// Whether the end of a process lets go of all that it holds at once, and in the right order: it does not, so the database and the
/// locks are closed before.
pub const GO_WITH_THE_PROCESS: bool = false;

/// The errors of a folder, or of another's file, under the name: access denied, and a sharing violation.
const ODD: [i32; 2] = [5, 32];

/// Leaves a lock as it is: it is let go of after the database, which stands before it.
pub fn let_go_last(lock: File) -> File {
    lock
}

/// Whether something else lies under a lock's name: it is like a lock that does not come.
pub fn is_odd(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::Other || cause.raw_os_error().is_some_and(|code| ODD.contains(&code))
}
