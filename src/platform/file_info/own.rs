//! What each system tells of a file in its own way, and how it is asked.

use std::fs::File;
use std::path::Path;

/// What a system tells of a file in its own way.
pub struct Own {
    /// Who may do what with it.
    pub mode: u32,
    /// Whose it is.
    pub owner: u32,
    /// How many names it has.
    pub names: u64,
    /// Where it is kept.
    pub place: (u64, u64),
    /// When it, its mode or its name was changed, in nanoseconds since 1970; 0 where the system does not tell.
    pub changed_ns: u64,
}

/// What is asked about.
#[cfg_attr(unix, expect(dead_code, reason = "what the standard library tells is enough"))]
pub enum Asked<'a> {
    /// What a path leads to.
    Path(&'a Path),
    /// What lies under a path itself.
    Itself(&'a Path),
    /// An open file.
    File(&'a File),
}
