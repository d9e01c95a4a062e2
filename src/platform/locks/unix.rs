//! Lock files of Unix systems: what can lie in the place of one.

use std::io;

use rustix::io::Errno;

/// Whether something else lies under a lock's name, or somebody holds a lease on it: it is like a lock that does not come.
pub fn is_odd(cause: &io::Error) -> bool {
    let odd = [Errno::LOOP, Errno::ISDIR, Errno::NXIO, Errno::NODEV, Errno::ACCESS, Errno::PERM, Errno::AGAIN];
    Errno::from_io_error(cause).is_some_and(|cause| odd.contains(&cause))
}
