//! What all Unix systems do alike with a process.

use rustix::process::{nice, setsid};

/// Returns the id of the user that this process acts for.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Leaves the session of the terminal or client that started this process, so that what ends them does not end it.
pub fn leave_session() {
    let _leads_already = setsid();
}

/// Leaves the session of the terminal or client that started this process, and makes way for all others.
pub fn retreat() {
    leave_session();
    let _as_before = nice(19);
}
