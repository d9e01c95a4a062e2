//! The real client, driven against a scripted Messages API on loopback.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]
#![expect(clippy::disallowed_methods, reason = "the lab is a world of its own, with an environment and a clock")]
#![expect(clippy::disallowed_macros, reason = "a failure tells its story")]

#[cfg(target_os = "linux")]
mod adversary;
mod api;
mod lab;
#[cfg(feature = "team")]
#[path = "../team/postgres.rs"]
#[expect(dead_code, reason = "servers that restart and take over are for the tests of the team")]
mod postgres;
mod script;
mod statusline;
mod terminal;
mod transcript;
mod version;
mod ways;

mod ask;
mod closed;
mod compactions;
mod cost;
mod delegation;
mod duration;
mod earlier;
mod edits;
mod endings;
mod harness;
mod hidden;
mod honest;
mod identity;
mod loops;
#[cfg(target_os = "linux")]
mod managed;
mod money;
mod nested;
mod observing;
mod pause;
mod plugin;
mod rates;
mod session;
mod session_commands;
mod settings;
#[cfg(feature = "team")]
mod team;
mod turns;
mod untold_events;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod watching;
