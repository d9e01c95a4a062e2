//! The rim of a live event: what is pinned, loaded and read for it, what is watched beside it, and what is answered on failure.

pub mod backlog;
pub mod baseline;
pub mod below;
pub mod calendar;
pub mod catch_up;
pub mod deadline;
pub mod dialogs;
pub mod ending;
pub mod failing;
pub mod first_requests;
pub mod hidden;
pub mod load;
pub mod orphans;
pub mod pin;
pub mod prune;
pub mod recall;
pub mod schedule;
pub mod settings;
pub mod shared;
pub mod tasks;
pub mod unseen;
pub mod unwritten;
pub mod watch;
