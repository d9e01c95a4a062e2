//! Lock files of Unix systems: whoever ends lets go, the low descriptors first.

use std::fs::File;
use std::io;

use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// Whether the end of a process lets go of all that it holds at once, and in the right order, so that nothing has to be closed.
pub const GO_WITH_THE_PROCESS: bool = true;

/// A descriptor above all that a hook opens.
const LAST: i32 = 64;

/// Moves a lock to a high descriptor. A process that ends closes the low ones first: the database, which it never closes
/// itself, has to be free when the next in the queue wakes up, or that one finds it busy and has to poll.
pub fn let_go_last(lock: File) -> File {
    // A process that may not have as many keeps the one it has.
    fcntl_dupfd_cloexec(&lock, LAST).map_or(lock, File::from)
}

/// Whether something else lies under a lock's name, or somebody holds a lease on it: it is like a lock that does not come.
pub fn is_odd(cause: &io::Error) -> bool {
    let odd = [Errno::LOOP, Errno::ISDIR, Errno::NXIO, Errno::NODEV, Errno::ACCESS, Errno::PERM, Errno::AGAIN];
    Errno::from_io_error(cause).is_some_and(|cause| odd.contains(&cause))
}
