//! Claude Code's hook protocol, the only place that knows its names.

pub mod diversions;
pub mod ending;
pub mod events;
pub mod guard;
pub mod input;
pub mod output;
mod own;
pub mod prints;
mod prompt_hash;
pub mod prompts;
pub mod sentences;
pub mod shell;
pub mod shorten;
pub mod shown;
pub mod tools;
mod waits;
