//! Lock files of Windows: what can lie in the place of one.

use std::io;

/// The errors of a folder, or of another's file, under the name: access denied, and a sharing violation.
const ODD: [i32; 2] = [5, 32];

/// Whether something else lies under a lock's name: it is like a lock that does not come.
pub fn is_odd(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::Other || cause.raw_os_error().is_some_and(|code| ODD.contains(&code))
}
