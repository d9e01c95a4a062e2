//! The rim of a live event: what is pinned, loaded and read for it, what is watched beside it, and what is answered on failure.

pub mod calendar;
pub mod catch_up;
pub mod ending;
pub mod failing;
pub mod hidden;
pub mod load;
pub mod orphans;
pub mod pin;
pub mod prune;
pub mod recall;
pub mod settings;
pub mod shared;
pub mod unseen;
pub mod unwritten;
