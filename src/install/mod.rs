//! Fusebox's place in Claude Code's settings: where it is registered, and how it gets in and out without touching anything else.

pub mod agent_models;
pub mod backup;
pub mod binary;
pub mod client_extensions;
pub mod client_versions;
pub mod default_files;
pub mod diff;
pub mod diverted;
pub mod files;
pub mod handler;
pub mod handlers;
pub mod hooks;
pub mod installed_at;
pub mod json;
pub mod model_hooks;
pub mod own_copy;
pub mod owned_by_root;
pub mod payment;
pub mod place;
pub mod plugins;
pub mod registration;
pub mod settings_files;
pub mod settings_values;
pub mod summary;
pub mod tracked;
pub mod uninstall;
