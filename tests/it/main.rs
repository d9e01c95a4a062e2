//! Fusebox from outside: commands and stories.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod bad_input;
mod benchmarks;
mod budgets;
mod compatibility;
mod config;
mod corners;
mod cost;
mod doctor;
mod endings;
mod install;
mod late_usage;
mod laws;
mod levers;
mod lost_state;
mod manual;
mod nested;
mod observe;
mod picture;
mod replay;
mod report;
mod retention;
mod setup;
mod shared_state;
mod sources;
mod state;
mod stories;
mod terminal;
mod tidy;
mod unwritten;
mod world;
