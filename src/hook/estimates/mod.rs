//! Estimates of requests before a transcript shows them, or where none ever does.

pub mod all_usage_missing;
pub mod first_requests;
mod hooks_that_ask;
pub mod next_model;
pub mod unlogged_requests;
