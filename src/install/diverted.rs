//! What the settings of a project divert, as the files are now: variables, keys and hooks that lead ours astray, or hide requests
//! and prices from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::domain::stored::stable_hash::StableHash;
use crate::install::fail_closed;
use crate::install::handler::Handler;
use crate::install::hooks;
use crate::install::json;
use crate::install::place::SettingsPlace;
use crate::install::run_commands;
use crate::install::settings_files::Settings;
use crate::install::settings_values;
use crate::platform::file_info;
use crate::wire::bypass_detection::diversions::{self, Diversion, Reach};
use crate::wire::javascript_json;

/// The event that asks whether a change of settings may be taken.
const ASKS_ABOUT_SETTINGS: &str = "ConfigChange";
/// How a hook names its program where the PATH decides which one that is.
const LOOKED_UP: &str = "fusebox";
/// How many characters are shown of what a file has.
const LONGEST_SHOWN: usize = 200;
/// How many bytes a variable may have, with its name. Windows takes 32,767 characters, Linux 128 KiB.
const LONGEST_VARIABLE: usize = 30_000;
/// How many bytes all variables of a file may have. Linux takes a quarter of the stack, at least 128 KiB.
const LONGEST_ENVIRONMENT: usize = 64 << 10;
/// Values of `crossSessionInbound` that let no prompt in.
const NO_PROMPTS: [&str; 2] = ["\"hold\"", "\"refuse\""];

/// One thing in the settings that diverts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverted {
    /// The file that it stands in.
    pub file: PathBuf,
    /// What it is: "`PATH` in `env`".
    pub what: String,
    /// What it does, to follow "it ".
    pub does: &'static str,
    /// A hash of what it is and of its value.
    pub print: u64,
    /// Whether it is a hook, or nobody knows what: to take one away diverts nothing.
    pub is_hook: bool,
    /// Whether the client is not known to take it: a client that works with it does. Or whether it is a hook of ours, by all that
    /// is known now.
    pub is_doubtful: bool,
    /// What a hook that is called ours runs: a path, a name where the PATH decides, or a whole line.
    pub program: Option<PathBuf>,
}

impl Diverted {
    /// Whether it is a hook of ours, by all that is known now.
    pub fn is_ours(&self) -> bool {
        self.program.is_some() && self.is_doubtful
    }

    /// Returns it in words. A name may be as long as its file.
    pub fn words(&self) -> String {
        let what: String = self.what.chars().take(LONGEST_SHOWN).collect();
        format!("{what} of `{}`, which {}", self.file.display(), self.does)
    }
}

/// Returns what the settings divert, the strongest file's value of each name. The administrator's are meant. Without a `binary`,
/// what is called ours is taken for it.
pub fn find(settings: &[Settings], binary: Option<&Path>) -> Vec<Diverted> {
    let looks_up = looks_up(settings);
    let own = || settings.iter().filter(|file| !file.place.is_administrators());
    let mut values = BTreeMap::new();
    for file in own() {
        for (name, value) in members(&file.text, "env") {
            // What is no text is turned into one by the client: a number, say.
            let set: String = javascript_json::parse(&value).unwrap_or_else(|| value.clone());
            let row = diversions::set_variable(&name, Some(&set)).filter(|row| acts(row, looks_up));
            if let Some(row) = row {
                values.insert(name.clone(), named(file, format!("`{name}` in `env`"), row.does, &value));
            }
        }
        let found = json::root(&file.text).map(|root| json::children(&file.text, &root)).unwrap_or_default();
        for row in diversions::SETTINGS {
            let child = found.iter().rfind(|child| child.key.as_deref() == Some(row.name));
            let value =
                child.map(|child| file.text[child.value.clone()].to_owned()).filter(|value| diverts(row, value));
            if let Some(value) = value {
                values.insert(row.name.to_owned(), named(file, format!("`{}`", row.name), row.does, &value));
            }
        }
    }
    values
        .into_values()
        .chain(own().flat_map(asking))
        .chain(settings.iter().flat_map(|file| called_ours(file, binary)))
        .chain(own().flat_map(reaching))
        .chain(fail_closed::opened(settings).map(opened))
        .chain(own().filter_map(unread))
        .chain(own().flat_map(overlong))
        .chain(own().flat_map(doubtful))
        .collect()
}

/// Returns the values of a file that holds handlers of ours which the client is not known to take.
fn doubtful(file: &Settings) -> Vec<Diverted> {
    if !hooks::find(&file.text).iter().any(|found| found.handler.is_ours()) {
        return Vec::new();
    }
    let doubts = settings_values::doubts(&file.text).into_iter().map(|(key, text, is_refused)| {
        let does = match is_refused {
            true => "the client does not take: it drops the whole file, with Fusebox's hooks",
            false => "the client may not take: it would drop the whole file, with Fusebox's hooks",
        };
        let (what, file) = (format!("`{key}`"), file.place.settings.clone());
        Diverted { print: print(&what, text), file, what, does, is_hook: true, is_doubtful: true, program: None }
    });
    doubts.collect()
}

/// Returns the commands of a file that the client is to run, and that start a client without hooks or give a person's command.
fn reaching(file: &Settings) -> Vec<Diverted> {
    let does = "starts a client without hooks, or gives a person's command, and no hook is asked";
    let found = run_commands::reaching(&file.text).into_iter();
    found.map(|(what, command)| Diverted { is_hook: true, ..named(file, what, does, &command) }).collect()
}

/// Returns the file that takes `onFailure` from hooks which another file registers to fail closed.
fn opened(place: &SettingsPlace) -> Diverted {
    let what = "Fusebox's hooks without `onFailure`".to_owned();
    let does = "the client goes by, where another file has them fail closed";
    Diverted {
        print: print(&what, ""),
        file: place.settings.clone(),
        what,
        does,
        is_hook: true,
        is_doubtful: false,
        program: None,
    }
}

/// Returns a file that cannot be read here: what it says to the client is not known.
fn unread(file: &Settings) -> Option<Diverted> {
    let what = "all that stands in it".to_owned();
    let print = print(&what, &file.unread?.to_string());
    let does = "is over 512 KiB or no JSON: Fusebox does not read it, and the client may";
    let file = file.place.settings.clone();
    Some(Diverted { file, what, does, print, is_hook: true, is_doubtful: false, program: None })
}

/// Returns the variables of a file that are too long for a program that is started with them, and all of them where they are together.
fn overlong(file: &Settings) -> Vec<Diverted> {
    let does = "is so long that no hook can be started with it";
    let variables = members(&file.text, "env");
    let length = |(name, value): &(String, String)| name.len() + value.len();
    let diverted = |what: String, value: &str| Diverted { is_hook: true, ..named(file, what, does, value) };
    let long = variables.iter().filter(|variable| length(variable) > LONGEST_VARIABLE);
    let mut found: Vec<Diverted> = long.map(|(name, value)| diverted(format!("`{name}` in `env`"), value)).collect();
    if found.is_empty() && variables.iter().map(length).sum::<usize>() > LONGEST_ENVIRONMENT {
        found.push(diverted("`env`".to_owned(), &file.text));
    }
    found
}

fn named(file: &Settings, what: String, does: &'static str, value: &str) -> Diverted {
    let print = print(&what, value);
    let file = file.place.settings.clone();
    Diverted { file, what, does, print, is_hook: false, is_doubtful: false, program: None }
}

/// Whether a variable acts on something: what leads a search astray on a handler that one has a part in. All else reaches the clients
/// that are started below, whatever our handlers are.
fn acts(row: &Diversion, looks_up: bool) -> bool {
    looks_up || row.reach != Reach::Lookups
}

/// Whether a key diverts by itself. What switches hooks off is looked at where the files are put together.
fn diverts(row: &Diversion, value: &str) -> bool {
    row.reach != Reach::Hooks && !NO_PROMPTS.contains(&value)
}

/// Whether a shell has a part in one of our handlers, or the program is found by one's search.
fn looks_up(settings: &[Settings]) -> bool {
    let is_static = cfg!(target_feature = "crt-static");
    let direct = |handler: &Handler| handler.args.is_some() && handler.program().is_some_and(Path::is_absolute);
    let mut found = settings.iter().flat_map(|file| hooks::find(&file.text));
    !is_static || found.any(|found| found.handler.is_ours() && !direct(&found.handler))
}

/// Returns the members of an object in a settings file, with their values as they stand.
fn members(text: &str, name: &str) -> Vec<(String, String)> {
    let object = json::root(text).and_then(|root| json::member(text, &root, name));
    let children = object.map(|object| json::children(text, &object)).unwrap_or_default();
    children.into_iter().filter_map(|child| Some((child.key?, text[child.value].to_owned()))).collect()
}

/// Returns the hooks of a file that ask a model by themselves, and those that have a say in changes of settings: while they think,
/// what was looked at can become something else.
fn asking(file: &Settings) -> Vec<Diverted> {
    let mut found = Vec::new();
    for (event, hook) in hooks::others(&file.text) {
        let kind = hook["type"].as_str().unwrap_or_default();
        let does = match kind {
            _ if event == ASKS_ABOUT_SETTINGS => "holds up what a change of settings is judged by",
            _ if diversions::ASKING_HOOKS.contains(&kind) => "asks a model where no transcript shows it",
            _ => continue,
        };
        let what = format!("a hook of type `{kind}` at {event}");
        found.push(Diverted { is_hook: true, ..named(file, what, does, &hook.to_string()) });
    }
    found
}

/// Returns the hooks of a file that are called ours, each program once.
fn called_ours(file: &Settings, binary: Option<&Path>) -> Vec<Diverted> {
    let found = hooks::find(&file.text).into_iter().filter(|found| found.handler.is_ours());
    let programs: BTreeMap<PathBuf, bool> = found.map(|found| of_handler(&found.handler, binary)).collect();
    let programs = programs.into_iter().map(|(program, is_doubtful)| {
        let what = format!("a hook that runs `{}`", program.display());
        // The same program in another file is no other one.
        let print = print(LOOKED_UP, &program.to_string_lossy());
        let does = "is called like Fusebox and may be another program";
        Diverted { print, is_hook: true, is_doubtful, program: Some(program), ..named(file, what, does, "") }
    });
    programs.collect()
}

/// Returns what a handler that is called ours runs, and whether that is Fusebox by all that is known now.
fn of_handler(handler: &Handler, binary: Option<&Path>) -> (PathBuf, bool) {
    match handler.program() {
        Some(program) => (program.into(), binary.is_none_or(|binary| file_info::is_same(program, binary))),
        None if handler.is_plain() => (LOOKED_UP.into(), true),
        None => (handler.command.as_str().into(), false),
    }
}

fn print(what: &str, value: &str) -> u64 {
    // Half of it is enough, and stays a whole number in every reader of JSON.
    StableHash::default().text(what).text(value).value() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_loader_takes_into_a_client_acts_beside_a_static_program_too() {
        for (name, expected) in [
            ("LD_PRELOAD", true),
            ("LD_LIBRARY_PATH", true),
            ("LD_AUDIT", true),
            ("DYLD_LIBRARY_PATH", true),
            ("DYLD_INSERT_LIBRARIES", true),
            ("GLIBC_TUNABLES", true),
            ("MALLOC_ARENA_MAX", true),
            ("PATH", false),
            ("BASH_ENV", false),
        ] {
            let row = diversions::set_variable(name, Some("x")).unwrap();
            assert_eq!((acts(row, false), acts(row, true)), (expected, true), "{name}");
        }
    }
}
