//! The rim of a live event: what is pinned, loaded and read for it, what is watched beside it, and what is answered on failure.

pub mod catch_up;
pub mod failing;
pub mod load;
pub mod pin;
pub mod settings;
