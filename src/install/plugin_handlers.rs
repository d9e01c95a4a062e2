//! Our handlers that come by a plugin of the client: no settings file names them, and settings can switch them off.

use std::path::PathBuf;

use crate::domain::stored::stable_hash::StableHash;
use crate::install::bounded_read::{self, BoundedRead};
use crate::install::enabled_plugins::{self, Enabled};
use crate::install::place::{Folders, InstallScope, SettingsPlace};
use crate::install::settings_files::Settings;
use crate::wire::javascript_json;

/// The largest file of hooks that is read, in bytes.
const LARGEST: u64 = 256 << 10;
/// The most bytes of hooks that are read of all plugins.
const MOST_BYTES: usize = 4 << 20;
/// The file of hooks that every plugin may have.
const HOOKS: &str = "hooks/hooks.json";
/// How a plugin's hooks name the plugin's own folder.
const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// A plugin whose hooks may run Fusebox.
pub struct PluginHandlers {
    /// The plugin.
    pub plugin: Enabled,
    /// Its hooks, as a settings file would have them.
    pub file: Settings,
}

impl PluginHandlers {
    /// Returns a hash of the plugin's folder.
    pub fn print(&self) -> u64 {
        StableHash::default().text(&self.plugin.folder.to_string_lossy()).value() >> 32
    }
}

/// Finds the plugins with our handlers: those that the settings switch on, and those in folders that a command line names.
pub fn find(folders: &Folders, settings: &[Settings], named: &[PathBuf]) -> Vec<PluginHandlers> {
    let named = named.iter().map(|folder| Enabled::at(folders.project.join(folder)));
    let mut left = MOST_BYTES;
    let enabled = enabled_plugins::find(folders, settings).0;
    enabled.into_iter().chain(named).filter_map(|plugin| read(plugin, &mut left)).collect()
}

fn read(plugin: Enabled, left: &mut usize) -> Option<PluginHandlers> {
    let path = plugin.folder.join(HOOKS);
    let BoundedRead::As(text) = bounded_read::read(&path, LARGEST, left) else { return None };
    let hooks: serde_json::Value = javascript_json::parse(&text)?;
    let hooks = hooks.get("hooks").filter(|hooks| hooks.to_string().contains("fusebox"))?;
    let folder = serde_json::Value::from(plugin.folder.to_string_lossy()).to_string();
    let text = format!("{{\"hooks\":{hooks}}}").replace(ROOT, folder.trim_matches('"'));
    let scope = if plugin.is_managed { InstallScope::Managed } else { InstallScope::User };
    let place = SettingsPlace { scope, settings: path, folder: plugin.folder.clone() };
    Some(PluginHandlers { plugin, file: Settings { place, text, unread: None } })
}
