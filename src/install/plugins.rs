//! The plugins that a client loads when it starts: their hooks run in every session of that client.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::domain::model_hook::ModelHook;
use crate::install::bounded_read::{self, BoundedRead};
use crate::install::enabled_plugins::{self, Enabled, SaidOfPlugin};
use crate::install::hooks::{count, find_asking};
use crate::install::place::Folders;
use crate::install::settings_files::Settings;
use crate::platform::file_info;
use crate::platform::files;
use crate::wire::events::EVENTS;
use crate::wire::javascript_json;

/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 5_000;
/// The most plugins that are looked at.
const MOST: usize = 500;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 << 10;
/// The most bytes of hooks that are read of all plugins.
const MOST_BYTES: usize = 4 << 20;
/// The file of hooks that every plugin may have.
const HOOKS: &str = "hooks/hooks.json";
/// What a plugin is described by.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns the plugins: those among the skills, those installed and switched on, those that the client's arguments name.
pub fn find(folders: &Folders, settings: &[Settings], arguments: &[String]) -> Vec<Enabled> {
    let skills = folders.speaking.iter().map(|folder| folder.join(".claude/skills"));
    let skills = skills.chain(folders.claude.as_ref().map(|claude| claude.join("skills")));
    let entries = skills.filter_map(|skills| files::entries(&skills, MOST_ENTRIES).ok());
    let among_skills = entries.flat_map(|entries| entries.found).map(|entry| entry.path);
    let among_skills = among_skills.filter(|folder| file_info::is_file(&folder.join(MANIFEST)));
    let named = values_of(arguments, "--plugin-dir").map(|folder| folders.project.join(folder));
    let mut found: Vec<Enabled> = among_skills.chain(named).map(Enabled::at).collect();
    found.extend(enabled_plugins::find(folders, settings).0);
    found.sort_unstable();
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

/// Returns the handlers of plugins that ask the model: of each its `hooks/hooks.json`, and what its manifest and its marketplace say
/// or name. The client loads a plugin from one of its folders: that with the most counts.
pub fn asking(plugins: &[Enabled]) -> Vec<ModelHook> {
    let mut of_each: BTreeMap<(&str, &Path), Vec<ModelHook>> = BTreeMap::new();
    let mut left = MOST_BYTES;
    for plugin in plugins {
        let hooks = hooks_of(plugin, &mut left);
        let folder = if plugin.id.is_empty() { &plugin.folder } else { Path::new("") };
        let known = of_each.entry((&plugin.id, folder)).or_default();
        if total(&hooks) > total(known) {
            *known = hooks;
        }
    }
    let mut found = Vec::new();
    of_each.into_values().flatten().for_each(|hook| count(&mut found, hook));
    found
}

/// Returns how many hooks these are.
pub fn total(hooks: &[ModelHook]) -> u64 {
    hooks.iter().fold(0, |sum, hook| sum.saturating_add(hook.count))
}

fn hooks_of(plugin: &Enabled, left: &mut usize) -> Vec<ModelHook> {
    let mut hooks = at(&plugin.folder.join(HOOKS), left);
    let manifest = match read(&plugin.folder.join(MANIFEST), left) {
        Read::As(manifest) => SaidOfPlugin::of(&manifest),
        Read::Not => SaidOfPlugin::default(),
        Read::TooMuch => {
            hooks.extend(unread());
            SaidOfPlugin::default()
        }
    };
    let mut named: Vec<&String> = manifest.hooks.iter().chain(&plugin.said.hooks).collect();
    named.sort_unstable();
    named.dedup();
    for path in named.into_iter().filter(|path| Path::new(path) != Path::new("./").join(HOOKS)) {
        hooks.extend(at(&plugin.folder.join(path), left));
    }
    for text in manifest.own_hooks.iter().chain(&plugin.said.own_hooks) {
        hooks.extend(javascript_json::parse(text).as_ref().map(model_hooks_in).unwrap_or_default());
    }
    hooks
}

/// Returns what a plugin's manifest and its marketplace say of it.
pub fn said_of(plugin: &Enabled, left: &mut usize) -> [SaidOfPlugin; 2] {
    let manifest = match read(&plugin.folder.join(MANIFEST), left) {
        Read::As(manifest) => SaidOfPlugin::of(&manifest),
        Read::Not | Read::TooMuch => SaidOfPlugin::default(),
    };
    [manifest, plugin.said.clone()]
}

fn at(path: &Path, left: &mut usize) -> Vec<ModelHook> {
    match read(path, left) {
        Read::As(hooks) => model_hooks_in(&hooks),
        Read::Not => Vec::new(),
        Read::TooMuch => unread(),
    }
}

/// Finds the handlers that ask the model among hooks, with or without the key before them.
pub fn model_hooks_in(hooks: &Value) -> Vec<ModelHook> {
    let hooks = hooks.get("hooks").filter(|inner| inner.is_object()).unwrap_or(hooks);
    find_asking(&serde_json::json!({ "hooks": hooks }).to_string(), &mut Vec::new())
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
        BoundedRead::As(text) => javascript_json::parse(&text).map_or(Read::Not, Read::As),
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
