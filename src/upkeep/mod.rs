//! What the daily pruning does to the state.

pub mod prune;
