//! Fusebox from outside: commands and stories.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod bad_input;
mod config;
mod cost;
mod doctor;
mod install;
mod late_usage;
mod levers;
mod manual;
mod picture;
mod replay;
mod report;
mod setup;
mod shared_state;
mod state;
mod stories;
mod tidy;
mod world;
