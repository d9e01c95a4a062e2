//! Fusebox's place in Claude Code's settings: where it is registered, and how it gets in and out without touching anything else.

pub mod agent_models;
pub mod backup;
pub mod binary;
pub mod bounded_read;
pub mod client_extensions;
pub mod client_versions;
pub mod default_files;
pub mod diff;
pub mod diverted;
pub mod enabled_plugins;
pub mod files;
pub mod handler;
pub mod handlers;
pub mod hooks;
pub mod installed_at;
pub mod json;
pub mod limit_words;
pub mod model_hooks;
pub mod nested_skills;
pub mod own_copy;
pub mod owned_by_root;
pub mod payment;
pub mod place;
pub mod plugin_handlers;
pub mod plugins;
#[cfg(any(feature = "suggest", feature = "team"))]
pub mod policy_edit;
pub mod registration;
pub mod run_commands;
pub mod settings_files;
pub mod settings_values;
pub mod skills;
pub mod status_line;
pub mod summary;
pub mod tracked;
pub mod uninstall;
