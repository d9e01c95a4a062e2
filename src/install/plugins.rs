//! The plugins that a client loads when it starts: their hooks run in every session of that client.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::model_hook::ModelHook;
use crate::install::bounded_read::{self, BoundedRead};
use crate::install::enabled_plugins;
use crate::install::hooks::{count, find_asking};
use crate::install::place::Folders;
use crate::install::settings_files::Settings;
use crate::platform::file_info;
use crate::platform::files;
use crate::wire::events::EVENTS;

/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 5_000;
/// The most plugins that are looked at.
const MOST: usize = 500;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 << 10;
/// The most bytes of hooks that are read of all plugins.
const MOST_BYTES: usize = 4 << 20;
/// What a plugin is described by.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns the folders of the plugins: those among the skills, those installed and switched on, those that the client's
/// arguments name.
pub fn folders(folders: &Folders, settings: &[Settings], arguments: &[String]) -> Vec<PathBuf> {
    let skills =
        [folders.claude.as_ref().map(|claude| claude.join("skills")), Some(folders.project.join(".claude/skills"))];
    let entries = skills.iter().flatten().filter_map(|skills| files::entries(skills, MOST_ENTRIES).ok());
    let among_skills = entries.flat_map(|entries| entries.found).map(|entry| entry.path);
    let mut found: Vec<PathBuf> = among_skills.filter(|folder| file_info::is_file(&folder.join(MANIFEST))).collect();
    found.extend(enabled_plugins::find(folders, settings).0.into_iter().map(|it| it.folder));
    found.extend(values_of(arguments, "--plugin-dir").map(|folder| folders.project.join(folder)));
    found.sort();
    found.dedup();
    found.truncate(MOST);
    found
}

/// Returns the value of an option that takes one: of several, the last. What follows it is another argument.
pub fn value_of<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let mut rest = arguments.iter();
    let mut value = None;
    while let Some(argument) = rest.next() {
        if argument == option {
            value = rest.next().map(String::as_str).or(value);
        } else if let Some(said) = argument.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            value = Some(said);
        }
    }
    value
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

/// Returns the handlers of plugins that ask the model: of each its `hooks/hooks.json`, and what its manifest says or names.
pub fn asking(plugins: &[PathBuf]) -> Vec<ModelHook> {
    let mut found = Vec::new();
    let mut left = MOST_BYTES;
    for folder in plugins {
        let mut hooks = at(&folder.join("hooks/hooks.json"), &mut left);
        let manifest = match read(&folder.join(MANIFEST), &mut left) {
            Read::As(manifest) => manifest,
            Read::Not => Value::Null,
            Read::TooMuch => {
                hooks.extend(unread());
                Value::Null
            }
        };
        let said = match &manifest["hooks"] {
            Value::Array(said) => said.iter().take(MOST).collect(),
            said => vec![said],
        };
        for said in said {
            match said {
                Value::String(path) if Path::new(path) != Path::new("./hooks/hooks.json") => {
                    hooks.extend(at(&folder.join(path), &mut left));
                }
                Value::Object(_) => hooks.extend(of(said)),
                _ => {}
            }
        }
        hooks.into_iter().for_each(|hook| count(&mut found, hook));
    }
    found
}

fn at(path: &Path, left: &mut usize) -> Vec<ModelHook> {
    match read(path, left) {
        Read::As(hooks) => of(&hooks),
        Read::Not => Vec::new(),
        Read::TooMuch => unread(),
    }
}

/// Finds the handlers that ask the model among hooks, with or without the key before them.
pub fn of(hooks: &Value) -> Vec<ModelHook> {
    let hooks = hooks.get("hooks").filter(|inner| inner.is_object()).unwrap_or(hooks);
    find_asking(&serde_json::json!({ "hooks": hooks }).to_string())
}

/// Returns what is taken for hooks that cannot be read: one at each event.
pub fn unread() -> Vec<ModelHook> {
    let asking = EVENTS.iter().filter(|row| row.asks_model);
    asking.map(|row| ModelHook { event: row.name.to_owned(), count: 1, ..ModelHook::default() }).collect()
}

/// What came of reading a file.
enum Read {
    As(Value),
    /// It is not there, or no JSON: the client reads nothing in it either.
    Not,
    /// It is larger than what is read.
    TooMuch,
}

fn read(path: &Path, left: &mut usize) -> Read {
    match bounded_read::read(path, LARGEST, left) {
        BoundedRead::As(text) => serde_json::from_str(&text).map_or(Read::Not, Read::As),
        BoundedRead::Not => Read::Not,
        BoundedRead::TooMuch => Read::TooMuch,
    }
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
