//! Fusebox: limits on turns, time, cost and tokens for Claude Code agents, enforced at the client's hooks.

#[cfg(feature = "watch")]
pub mod alerts;
pub mod byte_search;
pub mod calendar;
pub mod cmd;
pub mod config;
pub mod doctor;
pub mod domain;
pub mod engine;
pub mod error;
pub mod hook;
pub mod install;
pub mod limits;
pub mod messages;
pub mod platform;
pub mod pricing;
#[cfg(feature = "replay")]
pub mod replay;
pub mod report;
#[cfg(feature = "screen")]
pub mod screen;
pub mod store;
pub mod transcript;
pub mod ui;
pub mod upkeep;
pub mod wire;
