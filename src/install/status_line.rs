//! Our command as the client's status line, in the text of a settings file: put in where there is none, and taken out again.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::domain::stored::stable_hash::StableHash;
use crate::domain::text::shell_word::quoted;
use crate::install::json as text_edit;
use crate::install::place::Folders;
use crate::install::settings_files::{self, Settings};
use crate::platform::environment::Environment;

/// The key of the settings.
const KEY: &str = "statusLine";
/// The word of the command line that prints it.
const WORD: &str = "statusline";
/// How often the client runs it besides, in seconds: where a prompt is kept back the client itself sees nothing new.
const REFRESH_S: u64 = 5;
/// How the program is called.
const NAMES: [&str; 2] = ["fusebox", "fusebox.exe"];

/// Returns the command line that prints it.
pub fn command(program: &Path) -> String {
    let program = program.to_string_lossy();
    // On Windows a Unix shell runs it, too.
    let program = if cfg!(windows) { program.replace('\\', "/") } else { program.into_owned() };
    format!("{} {WORD}", quoted(&program))
}

/// Returns the command of the status line that a valid text names; empty where its value is of another kind.
pub fn find(text: &str) -> Option<String> {
    let root = text_edit::root(text)?;
    let span = text_edit::member(text, &root, KEY)?;
    let value: Value = text_edit::parse(text, &span)?;
    Some(value.get("command").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Returns the file whose status line the client shows here, with its command.
pub fn shown(env: &Environment) -> Option<(PathBuf, String)> {
    let files = settings_files::read(&Folders::of(env, &env.folder()));
    files.into_iter().rev().find_map(|file| Some((file.place.settings, find(&file.text)?)))
}

/// Returns a hash of the command of the status line that the client shows, where our program is in it; else 0.
pub fn print_of_ours(settings: &[Settings]) -> u64 {
    let shown = settings.iter().rev().find_map(|file| find(&file.text)).filter(|it| is_ours(it) || shows_both(it));
    // Half of it is enough, and stays a whole number in every reader of JSON.
    shown.map_or(0, |command| StableHash::default().text(&command).value() >> 32)
}

/// Whether a command line is ours, with nothing else in it.
pub fn is_ours(command: &str) -> bool {
    let program = command.strip_suffix(WORD).map(|program| program.trim_end().trim_matches('\''));
    program.and_then(|program| program.rsplit('/').next()).is_some_and(|name| NAMES.contains(&name))
}

/// Whether a command line runs our program with another one: a person has written that, so it stays.
pub fn shows_both(command: &str) -> bool {
    let with = command.split_once(&format!(" {WORD} --with "));
    with.is_some_and(|(program, _)| is_ours(&format!("{program} {WORD}")))
}

/// Returns the text with this command as its status line; one that is there stays.
pub fn put(text: &str, command: &str) -> String {
    let without = match find(text) {
        Some(known) if known == command || !is_ours(&known) => return text.to_owned(),
        _ => strip(text),
    };
    let value = json!({ "type": "command", "command": command, "refreshInterval": REFRESH_S });
    text_edit::root(&without)
        .map_or_else(|| text.to_owned(), |root| text_edit::insert(&without, &root, Some(KEY), &value))
}

/// Returns the text without our status line; anybody else's stays.
pub fn strip(text: &str) -> String {
    let Some(root) = text_edit::root(text).filter(|_| find(text).is_some_and(|command| is_ours(&command))) else {
        return text.to_owned();
    };
    let index = text_edit::children(text, &root).iter().rposition(|child| child.key.as_deref() == Some(KEY));
    index.map_or_else(|| text.to_owned(), |index| text_edit::remove(text, &root, index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_goes_in_and_out_and_anybody_elses_stays() {
        let ours = command(Path::new("/opt/my tools/fusebox"));
        assert_eq!(ours, "'/opt/my tools/fusebox' statusline");
        for text in ["{}", "{\n  \"model\": \"opus\"\n}\n", "{\"a\":1}"] {
            let with = put(text, &ours);
            assert_eq!(find(&with).as_deref(), Some(ours.as_str()), "{with}");
            assert_eq!(put(&with, &ours), with);
            assert_eq!(find(&put(&with, "/b/fusebox statusline")).as_deref(), Some("/b/fusebox statusline"));
            assert_eq!(
                strip(&with).split_whitespace().collect::<String>(),
                text.split_whitespace().collect::<String>()
            );
        }
        assert!(shows_both("'/opt/my tools/fusebox' statusline --with 'ccstatusline'"));
        assert!(!shows_both(&ours) && !shows_both("ccstatusline --with fusebox"));
        for other in ["ccstatusline", "/x/fusebox statusline --with 'ccstatusline'", "my-fusebox statusline", ""] {
            let text = json!({ "statusLine": { "type": "command", "command": other } }).to_string();
            assert_eq!((put(&text, &ours), strip(&text)), (text.clone(), text.clone()));
        }
    }
}
