//! What commands and the daily pruning do to the state: read transcripts to their end, mark orphans, prune.

pub mod catch_up;
pub mod prune;
