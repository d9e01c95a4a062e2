//! Claude Code's hook protocol, the only place that knows its names.

pub mod events;
