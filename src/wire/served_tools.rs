//! What the guard looks at in calls of servers' tools (`mcp__SERVER__TOOL`): the files that they write and the commands that they run,
//! as far as the names of tools and of their fields tell.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::domain::shell_word;
use crate::wire::bypass_detection::Guard;

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
const PATHS: [&str; 9] = ["dest", "destination", "file", "filename", "from", "path", "source", "target", "uri"];

/// Words in the name of a field that holds a command.
const COMMANDS: [&str; 4] = ["cmd", "command", "input", "script"];

/// Fields that a tool has whose files lie in a repository elsewhere.
const ELSEWHERE: [&str; 3] = ["owner", "project_id", "repo"];

/// Returns the name that a server has given its tool; nothing of the client's own tools.
pub fn name(tool: &str) -> Option<&str> {
    tool.strip_prefix(SERVED)?.rsplit_once("__").map(|(_, name)| name)
}

/// Says what a call of a server's tool does, where only a person may do it.
pub fn tampering(tool: &str, input: Option<&RawValue>, guard: &Guard) -> Option<String> {
    let words = words(name(tool)?);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let (writes, runs) = (has(&WRITES), has(&RUNS));
    let text = input.filter(|input| (writes || runs) && guard.mentions(input.get()))?.get();
    let fields: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
    let is_elsewhere = ELSEWHERE.iter().any(|key| fields.contains_key(*key));
    let written = || texts(&fields, &PATHS).into_iter().find_map(|path| guard.file(local(path)));
    let run = || texts(&fields, &COMMANDS).into_iter().find_map(|it| guard.command(&with_arguments(it, &fields)));
    (writes && !is_elsewhere).then(written).flatten().or_else(|| runs.then(run).flatten())
}

/// Returns the texts in fields whose names have one of these words, at any depth.
fn texts<'a>(fields: &'a serde_json::Map<String, Value>, named: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest: Vec<(bool, &Value)> = fields.iter().map(|(key, value)| (is_named(key, named), value)).collect();
    while let Some((counts, value)) = rest.pop() {
        match value {
            Value::String(text) if counts => found.push(text.as_str()),
            Value::Array(items) => rest.extend(items.iter().map(|item| (counts, item))),
            Value::Object(inner) => rest.extend(inner.iter().map(|(key, value)| (is_named(key, named), value))),
            _ => {}
        }
    }
    found
}

fn is_named(key: &str, named: &[&str]) -> bool {
    words(key)
        .iter()
        .any(|word| word.strip_suffix('s').is_some_and(|one| named.contains(&one)) || named.contains(&word.as_str()))
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

/// Returns the path of a `file:` address.
fn local(path: &str) -> &str {
    path.strip_prefix("file://").unwrap_or(path)
}

/// Returns a command with its arguments, where these stand in a field of their own.
fn with_arguments<'a>(command: &'a str, fields: &serde_json::Map<String, Value>) -> Cow<'a, str> {
    let given = fields.get("args").or_else(|| fields.get("arguments")).and_then(Value::as_array);
    let rest: Vec<String> = given.into_iter().flatten().filter_map(Value::as_str).map(shell_word::quoted).collect();
    if rest.is_empty() { Cow::Borrowed(command) } else { Cow::Owned(format!("{command} {}", rest.join(" "))) }
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
