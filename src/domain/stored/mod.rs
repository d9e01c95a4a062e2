//! How data is written to the state: facts, columns of indexes, left-out defaults and the one hash.

pub mod clock;
pub mod fact;
pub mod listed;
pub mod serde_default;
pub mod stable_hash;
