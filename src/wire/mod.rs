//! Claude Code's hook protocol, the only place that knows its names.

pub mod events;
pub mod guard;
pub mod input;
pub mod output;
pub mod sentences;
pub mod tools;
