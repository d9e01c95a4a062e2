//! What the guard looks at in calls of servers' tools (`mcp__SERVER__TOOL`): the files that they write and the commands that they run,
//! as far as the names of tools and of their fields tell.

use std::borrow::Cow;

use serde_json::Value;

use crate::domain::text::shell_word;
use crate::wire::bypass_detection::Guard;
use crate::wire::tool_input::ToolInput;

/// How the names of servers' tools begin; server and tool follow, with the same two lines between them.
const SERVED: &str = "mcp__";

/// Words in the name of a tool that writes, moves or removes files.
const WRITES: [&str; 20] = [
    "append",
    "apply",
    "copy",
    "create",
    "delete",
    "edit",
    "insert",
    "move",
    "overwrite",
    "patch",
    "put",
    "remove",
    "rename",
    "replace",
    "save",
    "symlink",
    "truncate",
    "unlink",
    "update",
    "write",
];

/// Words in the name of a tool that runs commands.
const RUNS: [&str; 8] = ["bash", "command", "exec", "execute", "process", "run", "shell", "terminal"];

/// Words in the name of a field that holds a file's path.
const PATHS: [&str; 11] =
    ["dest", "destination", "file", "filename", "from", "path", "source", "src", "target", "uri", "url"];

/// Words in the name of a field that holds a command's arguments.
const ARGUMENTS: [&str; 3] = ["arg", "argument", "argv"];

/// Words in the name of a field that holds a command.
const COMMANDS: [&str; 4] = ["cmd", "command", "input", "script"];

/// Words in the name of a field that a copy only reads.
const COPIED: [&str; 3] = ["from", "source", "src"];

/// Words in the names of servers whose files lie in repositories elsewhere.
const FORGES: [&str; 6] = ["azure", "bitbucket", "forgejo", "gitea", "github", "gitlab"];

/// What is said of a call with a field that is nested deeper than JSON is read.
const TOO_DEEP: &str =
    "fields nested deeper than Fusebox reads, in a call that may name it or the client. Nest them less";

/// Returns the name that a server has given its tool; nothing of the client's own tools.
pub fn name(tool: &str) -> Option<&str> {
    tool.strip_prefix(SERVED)?.rsplit_once("__").map(|(_, name)| name)
}

/// Says what a call of a server's tool does, where only a person may do it.
pub fn tampering(tool: &str, input: Option<&ToolInput>, guard: &Guard) -> Option<String> {
    let (server, name) = tool.strip_prefix(SERVED)?.split_once("__")?;
    let does = words(name);
    let has = |known: &[&str]| does.iter().any(|word| known.contains(&word.as_str()));
    let (writes, runs) = (has(&WRITES), has(&RUNS));
    let may_name = |text: &str| text.contains('%') || guard.may_mention(text);
    let text = input.filter(|input| (writes || runs) && may_name(input.text()))?.text();
    let Ok(fields) = serde_json::from_str::<Value>(text) else { return Some(TOO_DEEP.to_owned()) };
    let mut found = Found::default();
    found.look(&fields);
    let is_forge = words(server).iter().any(|word| FORGES.contains(&word.as_str()));
    let only_copies = has(&["copy"]) && !has(&["move", "rename"]);
    let mut written = found.paths.into_iter().filter(|(key, _)| !(only_copies && is_named(key, &COPIED)));
    let tampers = |(_, path): (&str, Cow<str>)| {
        // A path from the root on is one of this machine's.
        let is_elsewhere = is_forge && !path.starts_with(['/', '~']);
        if is_elsewhere { None } else { guard.file(&path) }
    };
    let written = if writes { written.find_map(tampers) } else { None };
    written.or_else(|| found.commands.iter().filter(|_| runs).find_map(|command| guard.command(command)))
}

/// What stands in a call's input that a tool may write or run.
#[derive(Default)]
struct Found<'a> {
    /// Paths, each with its field's name.
    paths: Vec<(&'a str, Cow<'a, str>)>,
    /// Commands with their arguments.
    commands: Vec<String>,
}

impl<'a> Found<'a> {
    /// Goes through a value at any depth.
    fn look(&mut self, value: &'a Value) {
        match value {
            Value::Object(fields) => {
                let arguments = fields.iter().filter(|(key, _)| is_named(key, &ARGUMENTS));
                let arguments: Vec<String> = arguments.flat_map(|(_, value)| command(value)).collect();
                for (key, value) in fields {
                    self.field(key, value);
                    let run = if is_named(key, &COMMANDS) { command(value) } else { None };
                    let with_arguments = |run: String| [run].into_iter().chain(arguments.iter().cloned()).collect();
                    self.commands
                        .extend(run.map(|run| -> Vec<String> { with_arguments(run) }).map(|all| all.join(" ")));
                }
                fields.values().for_each(|value| self.look(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            _ => {}
        }
    }

    /// Takes the paths of a field.
    fn field(&mut self, key: &'a str, value: &'a Value) {
        match value {
            Value::String(text) if is_named(key, &PATHS) => self.paths.push((key, local(text))),
            Value::Array(items) => items.iter().for_each(|item| self.field(key, item)),
            _ => {}
        }
    }
}

/// Returns a command as a shell reads it: one text, or a list of words.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(shell_word::quoted)).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    }
}

fn is_named(key: &str, named: &[&str]) -> bool {
    let is_known = |word: &str| named.contains(&word);
    words(key).iter().any(|word| word.strip_suffix('s').is_some_and(is_known) || is_known(word))
}

/// Returns the words of a name: `write_file`, `write-file` and `writeFile` have the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if letter.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
    }
    words
}

/// Returns the path of a `file:` address, in which `%62` stands for `b`.
fn local(path: &str) -> Cow<'_, str> {
    let is_address = path.get(..7).is_some_and(|begins| begins.eq_ignore_ascii_case("file://"));
    let Some(rest) = path.get(7..).filter(|_| is_address) else { return Cow::Borrowed(path) };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let (mut bytes, mut left) = (Vec::with_capacity(rest.len()), rest.as_bytes());
    while let [first, after @ ..] = left {
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        let code = code.filter(|_| *first == b'%');
        bytes.push(code.unwrap_or(*first));
        left = if code.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn the_words_of_a_name_are_found_however_it_is_written() {
        for name in ["write_file", "write-file", "writeFile", "WriteFile", "write.file"] {
            let found: Vec<String> = words(name).into_iter().filter(|word| !word.is_empty()).collect();
            assert_eq!(found, ["write", "file"], "{name}");
        }
    }
}
