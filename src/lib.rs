//! Fusebox: limits on turns, time, cost and tokens for Claude Code agents, enforced at the client's hooks.

pub mod bytes;
pub mod cmd;
pub mod config;
pub mod engine;
pub mod error;
pub mod files;
pub mod limits;
pub mod live;
pub mod pricing;
pub mod processes;
pub mod replay;
pub mod report;
pub mod setup;
pub mod stable_hash;
pub mod store;
pub mod terminal;
pub mod transcript;
pub mod wire;
pub mod world;
