//! Fusebox's place in Claude Code's settings: where it is registered, and how it gets in and out without touching anything else.

pub mod backup;
pub mod binary;
pub mod clients;
pub mod diagnosis;
pub mod difference;
pub mod diverted;
pub mod failing;
pub mod files;
pub mod guarded;
pub mod handler;
pub mod handlers;
pub mod hooks;
pub mod install;
pub mod installed;
pub mod json;
pub mod mods;
pub mod patience;
pub mod patient;
pub mod place;
pub mod removal;
pub mod soundness;
pub mod starter;
pub mod summary;
pub mod trial;
pub mod wrap;
