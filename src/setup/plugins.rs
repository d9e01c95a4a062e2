//! The plugins that a client loads when it starts: their hooks run in every session of that client.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::engine::hidden::ModelHook;
use crate::files;
use crate::setup::handlers::Settings;
use crate::setup::hooks::find_asking;
use crate::setup::json;
use crate::setup::place::Folders;

/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 5_000;
/// The most plugins that are looked at.
const MOST: usize = 500;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// What a plugin is described by.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns the folders of the plugins: those among the skills, those installed and switched on, those that the client's
/// arguments name.
pub fn folders(folders: &Folders, settings: &[Settings], arguments: &[String]) -> Vec<PathBuf> {
    let skills =
        [folders.claude.as_ref().map(|claude| claude.join("skills")), Some(folders.project.join(".claude/skills"))];
    let entries = skills.iter().flatten().filter_map(|skills| files::entries(skills, MOST_ENTRIES).ok());
    let among_skills = entries.flat_map(|entries| entries.found).map(|entry| entry.path);
    let mut found: Vec<PathBuf> = among_skills.filter(|folder| folder.join(MANIFEST).is_file()).collect();
    found.extend(installed(folders, settings));
    found.extend(values_of(arguments, "--plugin-dir").map(|folder| folders.project.join(folder)));
    found.sort();
    found.dedup();
    found.truncate(MOST);
    found
}

/// Returns the folders of the plugins that are installed and that the settings switch on.
fn installed(folders: &Folders, settings: &[Settings]) -> Vec<PathBuf> {
    let switches = settings.iter().filter_map(|file| {
        let span = json::member(&file.text, &json::root(&file.text)?, "enabledPlugins")?;
        json::parse::<Map<String, Value>>(&file.text, &span)
    });
    let mut on: Map<String, Value> = switches.flatten().collect();
    on.retain(|_, value| *value != Value::Bool(false));
    let list =
        folders.claude.as_ref().filter(|_| !on.is_empty()).map(|claude| claude.join("plugins/installed_plugins.json"));
    let Some(list) = list.and_then(|path| read(&path)) else { return Vec::new() };
    let plugins = list["plugins"].as_object().into_iter().flatten().filter(|(name, _)| on.contains_key(*name));
    let places = plugins.flat_map(|(_, places)| places.as_array().into_iter().flatten());
    places.filter_map(|place| place["installPath"].as_str()).map(PathBuf::from).collect()
}

/// Returns the values of an option that may be given more than once.
pub fn values_of<'a>(arguments: &'a [String], option: &'a str) -> impl Iterator<Item = &'a str> {
    let mut takes = false;
    arguments.iter().filter_map(move |argument| {
        if let Some(value) = argument.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
        let is_option = argument.starts_with('-');
        let value = Some(argument.as_str()).filter(|_| takes && !is_option);
        takes = if is_option { argument == option } else { takes };
        value
    })
}

/// Returns the handlers of a plugin that ask the model: its `hooks/hooks.json`, and what its manifest says or names.
pub fn asking(folder: &Path) -> Vec<ModelHook> {
    let mut found = read(&folder.join("hooks/hooks.json")).map(|hooks| of(&hooks)).unwrap_or_default();
    let manifest = read(&folder.join(MANIFEST)).unwrap_or_default();
    let said = match &manifest["hooks"] {
        Value::Array(said) => said.iter().take(MOST).collect(),
        said => vec![said],
    };
    for said in said {
        match said {
            Value::String(path) if Path::new(path) != Path::new("./hooks/hooks.json") => {
                found.extend(read(&folder.join(path)).map(|hooks| of(&hooks)).unwrap_or_default());
            }
            Value::Object(_) => found.extend(of(said)),
            _ => {}
        }
    }
    found
}

/// Finds the handlers that ask the model among hooks, with or without the key before them.
pub fn of(hooks: &Value) -> Vec<ModelHook> {
    let hooks = hooks.get("hooks").filter(|inner| inner.is_object()).unwrap_or(hooks);
    find_asking(&serde_json::json!({ "hooks": hooks }).to_string())
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&files::text(path, LARGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_options_values_are_found_however_they_are_given() {
        let given = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, values) in [
            ("claude -p hello", &[][..]),
            ("claude --plugin-dir a -p hello", &["a"]),
            ("claude --plugin-dir=a --plugin-dir b c -p d", &["a", "b", "c"]),
            ("claude --plugin-directory a", &[]),
        ] {
            assert_eq!(values_of(&given(line), "--plugin-dir").collect::<Vec<_>>(), values, "{line}");
        }
    }
}
