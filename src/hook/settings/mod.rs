//! The client's settings: what they put in force, who changes them, and which clients read them.

pub mod baseline;
pub mod client_folder;
pub mod client_starts;
pub mod nested_clients;
pub mod plan_status_line;
pub mod recheck;
pub mod watch;
