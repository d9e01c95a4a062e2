//! How a plain command starts a client: in which folder, and with which settings files.

use crate::wire::bypass_detection::clients;
use crate::wire::shell::invocation::Invocation;

/// A client that a command starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientStart {
    /// The folder that it is started in; `None` where text does not tell.
    pub folder: Option<String>,
    /// The settings files that its command line names.
    pub settings: Vec<String>,
}

/// The option that names settings.
pub(super) const OPTION: &str = "--settings";

/// The settings files that every client reads in the folder that it is started in.
const READ: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// How a file is named that is none: what another program writes meanwhile.
const STREAMS: [&str; 4] = ["<(", "/dev/", "/proc/", "-"];

/// Returns the settings files that an invocation names, where it starts a client with an agent in it.
pub(super) fn settings_of<'a>(it: &'a Invocation<'a>) -> Option<Vec<&'a str>> {
    if !clients::starts(it) {
        return None;
    }
    let mut words = it.args.iter().map(|word| &*word.text).take_while(|word| *word != "--");
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(OPTION) {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        found.extend(value.filter(|value| !value.trim_start().starts_with('{')));
    }
    Some(found)
}

/// Whether a word names a file that can be read beforehand.
pub(super) fn is_file(word: &str) -> bool {
    !STREAMS.iter().any(|start| word.starts_with(start))
}

/// Whether a path is that of a settings file which every client reads.
pub(super) fn is_settings(path: &str) -> bool {
    READ.iter().any(|name| path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/')))
}

/// Says what a client is whose settings file the text does not name.
pub(super) fn unnamed() -> String {
    format!(
        "a client with `{OPTION}`, and the command's text does not say which file that is. Name the file as it is called"
    )
}

/// Says what a client is whose settings file the same command writes.
pub(super) fn written_beside(path: &str) -> String {
    format!(
        "a client in one command with what writes `{path}`, which it reads at its start. Start it in a call of its own"
    )
}
