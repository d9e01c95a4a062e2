//! Claude Code's hook protocol, the only place that knows its names.

pub mod ending;
mod escape;
pub mod events;
pub mod guard;
pub mod input;
pub mod output;
mod own;
pub mod prints;
pub mod sentences;
pub mod shorten;
pub mod shown;
pub mod tools;
