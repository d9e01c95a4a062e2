//! What the daily pruning and the status line do to the state.

pub mod client_figures;
pub mod prune;
