//! Finds the handlers that ask the model and stand outside of the settings files: in plugins, agent types and skills.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::config::{frontmatter, load};
use crate::domain::model_hook::{Holder, ModelHook};
use crate::install::enabled_plugins::Enabled;
use crate::install::hooks::count;
use crate::install::json;
use crate::install::place::Folders;
use crate::install::plugins;
use crate::install::settings_files::{self, SAID, Settings};
use crate::install::skills::{FoundSkills, SkillFile, SkillPlaces};
use crate::platform::environment::Environment;
use crate::platform::files;
use crate::wire::javascript_json;

/// The keys of a skill's frontmatter that say what hooks it brings.
const KEYS: [&str; 2] = ["hooks", "context"];
/// The keys of an agent's frontmatter that are read at once.
pub const OF_AGENTS: [&str; 3] = ["name", "hooks", "model"];

/// How deep an added folder of agents is looked through, the most entries of it that are looked at, and the most texts that are read.
const DEEPEST: usize = 16;
const MOST_ENTRIES: usize = 5_000;
const MOST_TEXTS: usize = 500;

/// What a client was started with.
pub struct Client {
    /// Where its files lie.
    pub folders: Folders,
    /// Its plugins.
    pub plugins: Vec<Enabled>,
    /// Its settings, the file that wins last.
    pub settings: Vec<Settings>,
    arguments: Vec<String>,
}

impl Client {
    /// Returns a client of which neither settings nor plugins are read.
    pub fn bare(folders: Folders, arguments: Vec<String>) -> Client {
        Client { plugins: Vec::new(), folders, settings: Vec::new(), arguments }
    }

    /// Reads the settings of a client with these arguments, and finds its plugins.
    pub fn new(folders: Folders, arguments: Vec<String>) -> Client {
        Client::bare(folders, arguments).with_settings().with_plugins()
    }

    /// Reads its settings.
    pub fn with_settings(self) -> Client {
        let settings = settings_files::beside(settings_files::read(&self.folders), self.named_settings());
        Client { settings, ..self }
    }

    /// Finds its plugins, by the settings that were read.
    pub fn with_plugins(self) -> Client {
        Client { plugins: plugins::find(&self.folders, &self.settings, &self.arguments), ..self }
    }

    /// Returns the value of an option on its command line.
    pub fn value_of(&self, option: &str) -> Option<&str> {
        plugins::value_of(&self.arguments, option)
    }

    /// Returns the folders that its command line adds, whose skills, commands and agents are its own too.
    pub fn added(&self) -> Vec<PathBuf> {
        plugins::values_of(&self.arguments, "--add-dir").map(|folder| self.folders.project.join(folder)).collect()
    }

    /// Returns the files that a skill or command of this name may stand in; `transcript` says which folders it has come by.
    pub fn skills(&self, name: &str, transcript: Option<&Path>) -> FoundSkills {
        let places = SkillPlaces { folders: &self.folders, added: self.added(), plugins: &self.plugins, transcript };
        places.find(name)
    }

    /// Returns the folders of plugins that its command line names.
    pub fn named_plugins(&self) -> Vec<PathBuf> {
        plugins::values_of(&self.arguments, "--plugin-dir").map(PathBuf::from).collect()
    }

    /// Reads the settings that its command line names, or says.
    pub fn named_settings(&self) -> Vec<Settings> {
        let read = |value: &str| match is_json(value) {
            true => settings_files::said(value),
            false => settings_files::read_named(&self.folders.project.join(value)),
        };
        plugins::value_of(&self.arguments, SAID).into_iter().map(read).collect()
    }

    /// Returns a text of its settings, by the file that wins.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.iter().rev().find_map(|file| {
            let span = json::member(&file.text, &json::root(&file.text)?, name)?;
            json::parse::<String>(&file.text, &span)
        })
    }
}

/// Returns the JSON that a value on a client's command line is, or that stands in the file which it names.
fn text_of(folders: &Folders, value: &str) -> String {
    if is_json(value) { value.to_owned() } else { settings_files::read_named(&folders.project.join(value)).text }
}

/// Whether a value on a command line is JSON and no file's name.
fn is_json(value: &str) -> bool {
    value.trim_start().starts_with('{')
}

/// Returns the handlers that the client brings along when it starts, with these agent types.
pub fn of_client(client: &Client, types: &[DescribedType]) -> Vec<ModelHook> {
    let mut found = plugins::asking(&client.plugins);
    let main = main_type(client);
    for (name, hooks) in of_types(types) {
        let is_main = main.as_ref() == Some(&name);
        for hook in hooks {
            if is_main {
                // The session's own agent brings its hooks along for all.
                count(&mut found, hook.clone());
            }
            count(&mut found, ModelHook { holder: Holder::Type(name.clone()), ..hook });
        }
    }
    found
}

/// Returns the type of the session's own agent, where it has one.
pub fn main_type(client: &Client) -> Option<String> {
    plugins::value_of(&client.arguments, "--agent").map(str::to_owned).or_else(|| client.setting("agent"))
}

/// Returns the handlers of each agent's type that has some, the later ones in place of earlier ones of its name.
fn of_types(described: &[DescribedType]) -> Vec<(String, Vec<ModelHook>)> {
    let mut types: Vec<(String, Vec<ModelHook>)> = Vec::new();
    for (name, said) in described {
        let hooks = match said_under(said, &OF_AGENTS[..2]) {
            Ok(entries) => hooks_in(&entries),
            Err(text) => unread(text),
        };
        types.retain(|(known, _)| known != name);
        if !hooks.is_empty() {
            types.push((name.clone(), hooks));
        }
    }
    types
}

/// Returns what is said of a type under some keys alone, where all that was read at once cannot be; the text where that cannot be either.
pub fn said_under<'a>(
    said: &'a Result<Map<String, Value>, String>,
    keys: &[&str],
) -> Result<Cow<'a, Map<String, Value>>, &'a str> {
    match said {
        Ok(entries) => Ok(Cow::Borrowed(entries)),
        Err(text) => frontmatter::entries(text, keys).map(Cow::Owned).ok_or(text),
    }
}

/// An agent type by its name, with what is said of it: the text as the error where a frontmatter cannot be read.
pub type DescribedType = (String, Result<Map<String, Value>, String>);

/// Returns each agent type that a client's files describe, then those of its command line, with what is said under `keys`.
pub fn described_types(env: &Environment, client: &Client, keys: &[&str]) -> Vec<DescribedType> {
    let added = client.added().into_iter().flat_map(|folder| texts_below(&folder.join(".claude/agents")));
    let files = added.chain(load::frontmatters(env, &client.folders.project)).map(|(stem, text)| {
        let entries = frontmatter::entries(&text, keys).ok_or(text);
        let said = said_under(&entries, &OF_AGENTS[..1]).ok();
        let name = said.and_then(|entries| entries.get("name")?.as_str().map(str::to_owned));
        (name.unwrap_or(stem), entries)
    });
    let said = client.value_of("--agents").map(|value| text_of(&client.folders, value));
    let said = said.and_then(|text| javascript_json::parse::<Map<String, Value>>(&text));
    let said =
        said.into_iter().flatten().map(|(name, agent)| (name, Ok(agent.as_object().cloned().unwrap_or_default())));
    files.chain(said).collect()
}

/// Returns the names of the texts below a folder, without their endings, and their starts.
fn texts_below(folder: &Path) -> Vec<(String, String)> {
    let texts = files::below(folder, DEEPEST, MOST_ENTRIES).into_iter();
    let texts = texts.filter(|path| path.extension().is_some_and(|ending| ending == "md")).take(MOST_TEXTS);
    let read = |path: PathBuf| {
        let text = files::head(&path, frontmatter::HEAD).ok()?;
        Some((path.file_stem()?.to_string_lossy().into_owned(), text))
    };
    texts.filter_map(read).collect()
}

fn hooks_in(entries: &Map<String, Value>) -> Vec<ModelHook> {
    entries.get("hooks").map(plugins::model_hooks_in).unwrap_or_default()
}

/// Returns the handlers of a skill or command, once it is called, and the text that they were read from; nothing where none has
/// this name. Of several by one name the one with the most handlers counts.
pub fn of_skill(client: &Client, name: &str, transcript: Option<&Path>) -> Option<(Vec<ModelHook>, String)> {
    let found = client.skills(name, transcript);
    let mut hooks: Vec<_> = found.files.into_iter().map(|file| (hooks_of_skill(&file), file.text)).collect();
    if found.is_more {
        hooks.push((plugins::unread(), name.to_owned()));
    }
    let (hooks, text) = hooks.into_iter().max_by_key(|(hooks, _)| plugins::total(hooks))?;
    Some((hooks.into_iter().map(|hook| ModelHook { holder: Holder::Main, ..hook }).collect(), text))
}

/// Whether a skill or command of this name works in an agent of its own, as far as any file of that name says.
pub fn is_forked_skill(client: &Client, name: &str, transcript: Option<&Path>) -> bool {
    let found = client.skills(name, transcript);
    let forks = |file: &SkillFile| match frontmatter::entries(&file.text, &KEYS) {
        Some(entries) => is_fork(&entries),
        None => file.text.lines().any(|line| line.starts_with("context:")),
    };
    found.is_more || found.files.iter().any(forks)
}

fn is_fork(entries: &Map<String, Value>) -> bool {
    entries.get("context").and_then(Value::as_str) == Some("fork")
}

fn hooks_of_skill(file: &SkillFile) -> Vec<ModelHook> {
    match frontmatter::entries(&file.text, &KEYS) {
        _ if !file.may_have_hooks => Vec::new(),
        // One that works in an agent of its own brings no hooks along.
        Some(entries) if is_fork(&entries) => Vec::new(),
        Some(entries) => hooks_in(&entries),
        None => unread(&file.text),
    }
}

/// What is taken for the hooks of a frontmatter that cannot be read, where it may have any.
fn unread(text: &str) -> Vec<ModelHook> {
    if may_have_hooks(text) { plugins::unread() } else { Vec::new() }
}

/// Whether a frontmatter that cannot be read may register hooks: their key can be written with escapes.
pub fn may_have_hooks(text: &str) -> bool {
    let names = |line: &str| line.contains("hooks") || line.contains('\\');
    frontmatter::length(text) >= frontmatter::LONGEST || frontmatter::lines(text).any(names)
}
