//! Fusebox's place in Claude Code's settings: where it is registered, and how it gets in and out without touching anything else.

pub mod backup;
pub mod binary;
pub mod difference;
pub mod files;
pub mod handler;
pub mod handlers;
pub mod hooks;
pub mod install;
pub mod json;
pub mod place;
pub mod removal;
pub mod starter;
