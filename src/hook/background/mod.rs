//! Work that outlives the hook: processes that it leaves behind, and shell commands that run on.

pub mod client_watch;
pub mod command_watch;
pub mod job;
pub mod prune_due;
pub mod recount;
pub mod tasks;
pub mod team_sync;
