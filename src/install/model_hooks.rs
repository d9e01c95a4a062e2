//! Finds the handlers that ask the model and stand outside of the settings files: in plugins, agent types and skills.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::config::{frontmatter, load};
use crate::domain::model_hook::{Holder, ModelHook};
use crate::install::hooks::count;
use crate::install::json;
use crate::install::place::Folders;
use crate::install::plugins;
use crate::install::settings_files::{self, SAID, Settings};
use crate::platform::environment::Environment;
use crate::platform::files;

/// The keys of a frontmatter that say what hooks it brings.
const KEYS: [&str; 3] = ["name", "hooks", "context"];

/// What a client was started with.
pub struct Client {
    /// Where its files lie.
    pub folders: Folders,
    /// The folders of its plugins.
    pub plugins: Vec<PathBuf>,
    settings: Vec<Settings>,
    arguments: Vec<String>,
}

impl Client {
    /// Reads the settings of a client with these arguments, and finds its plugins.
    pub fn new(folders: Folders, arguments: Vec<String>) -> Client {
        let settings = settings_files::beside(settings_files::read(&folders), named_settings(&folders, &arguments));
        Client { plugins: plugins::folders(&folders, &settings, &arguments), folders, settings, arguments }
    }

    /// Returns the value of an option on its command line.
    pub fn value_of(&self, option: &str) -> Option<&str> {
        plugins::value_of(&self.arguments, option)
    }

    /// Reads the settings that its command line names, or says.
    pub fn named_settings(&self) -> Vec<Settings> {
        named_settings(&self.folders, &self.arguments)
    }

    /// Returns a text of its settings, by the file that wins.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.iter().rev().find_map(|file| {
            let span = json::member(&file.text, &json::root(&file.text)?, name)?;
            json::parse::<String>(&file.text, &span)
        })
    }
}

/// Reads the settings that a client's command line names, or says.
fn named_settings(folders: &Folders, arguments: &[String]) -> Vec<Settings> {
    let read = |value: &str| match is_json(value) {
        true => settings_files::said(value),
        false => settings_files::read_named(&folders.project.join(value)),
    };
    plugins::value_of(arguments, SAID).into_iter().map(read).collect()
}

/// Returns the JSON that a value on a client's command line is, or that stands in the file which it names.
fn text_of(folders: &Folders, value: &str) -> String {
    if is_json(value) { value.to_owned() } else { settings_files::read_named(&folders.project.join(value)).text }
}

/// Whether a value on a command line is JSON and no file's name.
fn is_json(value: &str) -> bool {
    value.trim_start().starts_with('{')
}

/// Returns the handlers that the client brings along when it starts.
pub fn of_client(env: &Environment, client: &Client) -> Vec<ModelHook> {
    let mut found = plugins::asking(&client.plugins);
    let main = main_type(client);
    for (name, hooks) in of_types(env, client) {
        let is_main = main.as_ref() == Some(&name);
        for hook in hooks {
            if is_main {
                // The session's own agent brings its hooks along for all.
                count(&mut found, hook.clone());
            }
            count(&mut found, ModelHook { of: Holder::Type(name.clone()), ..hook });
        }
    }
    found
}

/// Returns the type of the session's own agent, where it has one.
pub fn main_type(client: &Client) -> Option<String> {
    plugins::value_of(&client.arguments, "--agent").map(str::to_owned).or_else(|| client.setting("agent"))
}

/// Returns the handlers of each agent's type that has some, the later ones in place of earlier ones of its name.
fn of_types(env: &Environment, client: &Client) -> Vec<(String, Vec<ModelHook>)> {
    let mut types: Vec<(String, Vec<ModelHook>)> = Vec::new();
    for (name, entries) in described_types(env, client, &KEYS) {
        let hooks = entries.map_or_else(|text| unread(&text), |entries| hooks_in(&entries));
        types.retain(|(known, _)| *known != name);
        if !hooks.is_empty() {
            types.push((name, hooks));
        }
    }
    types
}

/// An agent type by its name, with what is said of it: the text as the error where a frontmatter cannot be read.
pub type DescribedType = (String, Result<Map<String, Value>, String>);

/// Returns each agent type that a client's files describe, then those of its command line, with what is said under `keys`.
pub fn described_types(env: &Environment, client: &Client, keys: &[&str]) -> Vec<DescribedType> {
    let files = load::frontmatters(env, &client.folders.project).into_iter().map(|(stem, text)| {
        let entries = frontmatter::entries(&text, keys).ok_or(text);
        let name = entries.as_ref().ok().and_then(|entries| entries.get("name")?.as_str()).map(str::to_owned);
        (name.unwrap_or(stem), entries)
    });
    let said = client.value_of("--agents").map(|value| text_of(&client.folders, value));
    let said = said.and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let said =
        said.into_iter().flatten().map(|(name, agent)| (name, Ok(agent.as_object().cloned().unwrap_or_default())));
    files.chain(said).collect()
}

fn hooks_in(entries: &Map<String, Value>) -> Vec<ModelHook> {
    entries.get("hooks").map(plugins::of).unwrap_or_default()
}

/// Returns the handlers of a skill or command, once it is called, and the text that they were read from; nothing where none has
/// this name.
pub fn of_skill(client: &Client, name: &str) -> Option<(Vec<ModelHook>, String)> {
    let text = text_of_skill(client, name)?;
    let hooks = match frontmatter::entries(&text, &KEYS) {
        // One that works in an agent of its own brings no hooks along.
        Some(entries) if entries.get("context").and_then(Value::as_str) == Some("fork") => Vec::new(),
        Some(entries) => hooks_in(&entries),
        None => unread(&text),
    };
    let hooks = hooks.into_iter().map(|hook| ModelHook { of: Holder::Main, ..hook }).collect();
    Some((hooks, text))
}

/// Returns the start of the file of a skill or command.
pub fn text_of_skill(client: &Client, name: &str) -> Option<String> {
    let paths = paths(&client.folders, &client.plugins, name);
    paths.iter().find_map(|path| files::head(path, frontmatter::HEAD).ok())
}

/// Returns the files that a skill or command of this name may stand in.
fn paths(folders: &Folders, plugins: &[PathBuf], name: &str) -> Vec<PathBuf> {
    let below = |folder: &Path, name: &str| {
        // A command's folders stand before its name, with colons between.
        [
            folder.join("skills").join(name).join("SKILL.md"),
            folder.join("commands").join(name.replace(':', "/")).with_extension("md"),
        ]
    };
    let of_plugin = |(plugin, skill): (&str, &str)| -> Vec<PathBuf> {
        let named = plugins.iter().filter(|folder| folder.components().any(|part| part.as_os_str() == plugin));
        named.flat_map(|folder| below(folder, skill)).collect()
    };
    if name.split([':', '/']).any(|part| matches!(part, "" | "." | "..")) {
        return Vec::new();
    }
    let own = [Some(folders.project.join(".claude")), folders.claude.clone()];
    let own = own.iter().flatten().flat_map(|folder| below(folder, name));
    own.chain(name.split_once(':').map(of_plugin).into_iter().flatten()).collect()
}

/// What is taken for the hooks of a frontmatter that cannot be read, where it has any.
fn unread(text: &str) -> Vec<ModelHook> {
    if text.lines().any(|line| line.starts_with("hooks:")) { plugins::unread() } else { Vec::new() }
}
