//! Fusebox: limits on turns, time, cost and tokens for Claude Code agents, enforced at the client's hooks.

pub mod cmd;
pub mod config;
pub mod engine;
pub mod error;
pub mod failing;
pub mod intake;
pub mod limits;
pub mod live;
pub mod logbook;
pub mod pin;
pub mod pricing;
pub mod processes;
pub mod report;
pub mod settings_guard;
pub mod setup;
pub mod store;
pub mod transcript;
pub mod wire;
pub mod world;
