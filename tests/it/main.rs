//! Fusebox from outside: commands and stories.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod config;
mod cost;
mod doctor;
mod install;
mod replay;
mod setup;
mod stories;
mod tidy;
mod world;
