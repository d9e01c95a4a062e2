//! How data is written to the state: facts, columns of indexes, left-out defaults and the one hash.

pub mod clock;
pub mod listed;
pub mod metadata;
pub mod serde_default;
pub mod stable_hash;
