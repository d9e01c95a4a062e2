//! The command that takes up what a `fusebox run` has begun: with all that it was given, but for its prompt.

use std::ffi::OsString;
use std::path::Path;

use crate::cmd::run_command::names_client;
use crate::cmd::session_edit::{self, SessionEdit};
use crate::cmd::target::Target;
use crate::domain::text::shell_word::quoted;
use crate::platform::environment::Environment;
use crate::report::take_up::GO_ON;
use crate::store::Store;
use crate::ui::terminal::plain;

/// What of the words behind an option is its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// None.
    Nothing,
    /// The next word.
    Next,
    /// The next word, unless that is an option.
    Maybe,
    /// All words up to the next option.
    All,
}

/// The client's options that take a value.
const VALUED: [(&str, Value); 43] = [
    ("--add-dir", Value::All),
    ("--agent", Value::Next),
    ("--agents", Value::Next),
    ("--allowed-tools", Value::All),
    ("--allowedTools", Value::All),
    ("--append-system-prompt", Value::Next),
    ("--append-system-prompt-file", Value::Next),
    ("--autocompact", Value::Next),
    ("--betas", Value::All),
    ("--debug", Value::Maybe),
    ("--debug-file", Value::Next),
    ("--disallowed-tools", Value::All),
    ("--disallowedTools", Value::All),
    ("--effort", Value::Next),
    ("--environment", Value::Next),
    ("--fallback-model", Value::Next),
    ("--file", Value::All),
    ("--json-schema", Value::Next),
    ("--managed-settings", Value::Next),
    ("--max-budget-usd", Value::Next),
    ("--max-thinking-tokens", Value::Next),
    ("--max-turns", Value::Next),
    ("--mcp-config", Value::All),
    ("--model", Value::Next),
    ("--name", Value::Next),
    ("--output-format", Value::Next),
    ("--permission-mode", Value::Next),
    ("--permission-prompt-tool", Value::Next),
    ("--permission-prompts", Value::Next),
    ("--plugin-dir", Value::Next),
    ("--plugin-url", Value::Next),
    ("--project-config-root", Value::Next),
    ("--prompt-suggestions", Value::Maybe),
    ("--setting-sources", Value::Next),
    ("--settings", Value::Next),
    ("--system-prompt", Value::Next),
    ("--system-prompt-file", Value::Next),
    ("--system-prompt-snapshot", Value::Next),
    ("--tools", Value::All),
    ("--worktree", Value::Maybe),
    ("-d", Value::Maybe),
    ("-n", Value::Next),
    ("-w", Value::Maybe),
];

/// Its options that are not given again: they name a session or how its prompt comes, or stand there already.
const LEFT_OUT: [(&str, Value); 11] = [
    ("--continue", Value::Nothing),
    ("--fork-session", Value::Nothing),
    ("--from-pr", Value::Maybe),
    ("--input-format", Value::Next),
    ("--print", Value::Nothing),
    ("--replay-user-messages", Value::Nothing),
    ("--resume", Value::Maybe),
    ("--session-id", Value::Next),
    ("-c", Value::Nothing),
    ("-p", Value::Nothing),
    ("-r", Value::Maybe),
];

/// Its options whose value can be JSON with keys and passwords in it: a log is to show none.
const SECRET: [&str; 3] = ["--managed-settings", "--mcp-config", "--settings"];
/// A command of more bytes is kept with no session.
const LONGEST: usize = 2_000;
/// What stands in place of such a value, for a person to fill in.
const FILL_IN: &str = "{…}";

/// What was given to a `fusebox run`, as a person types it again.
pub struct Again {
    /// What stands before the session's id.
    before: String,
    /// What stands behind it.
    after: String,
}

impl Again {
    /// Reads it from the options of `fusebox run` and its command. Of a program that is not the client nothing is known.
    pub fn of(is_strict: bool, summary: Option<&Path>, command: &[OsString]) -> Again {
        let command: Vec<String> = command.iter().map(|word| plain(&word.to_string_lossy())).collect();
        let (program, words) = match command.split_first() {
            Some((program, words)) if names_client(program.as_ref()) => (program.as_str(), words),
            _ => ("claude", &[][..]),
        };
        let strict = if is_strict { " --strict" } else { "" };
        let summary = summary.map(|path| format!(" --summary {}", quoted(&plain(&path.to_string_lossy()))));
        let options: String = options(words).iter().map(|word| format!(" {}", quoted(word))).collect();
        Again {
            before: format!("fusebox run{strict}{} -- {} -p --resume", summary.unwrap_or_default(), quoted(program)),
            after: format!("{GO_ON}{options}"),
        }
    }

    /// Keeps the command with each session that a `fusebox run` has marked, for whoever says later how it goes on. Those that an agent
    /// has started go on with the session above them. A state that cannot be written keeps none: the options are left out then.
    pub fn remember(&self, env: &Environment, mark: &str, since_ms: i64) {
        let sessions =
            Store::open(env).and_then(|store| store.sessions_of_launcher(mark, since_ms)).unwrap_or_default();
        for session in sessions.into_iter().filter(|session| session.parent().is_none()) {
            let again = self.with(&session.id);
            let keep = |edit: &mut SessionEdit| {
                edit.state.session.again = Some(again).filter(|again| again.len() <= LONGEST);
                Ok(Vec::new())
            };
            drop(session_edit::edit(env, &Target::Session(session.id), keep));
        }
    }

    /// Returns the command that goes on with a session.
    pub fn with(&self, session: &str) -> String {
        format!("{} {} {}", self.before, plain(session), self.after)
    }
}

/// Returns the client's options with their values, without those that are left out, without the prompt, and without secrets.
fn options(mut words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some((word, after)) = words.split_first() {
        let option = word.split('=').next().unwrap_or_default();
        let row = |table: &[(&str, Value)]| table.iter().find(|row| row.0 == option).map(|row| row.1);
        let left_out = row(&LEFT_OUT);
        let has_own = option != word;
        let value = left_out.or_else(|| row(&VALUED)).filter(|_| !has_own).unwrap_or(Value::Nothing);
        let open = after.iter().take_while(|word| !word.starts_with('-')).count();
        let values = match value {
            Value::Nothing => 0,
            Value::Next => after.len().min(1),
            Value::Maybe => open.min(1),
            Value::All => open,
        };
        // Behind `--` stands the prompt alone.
        if word == "--" {
            break;
        }
        if left_out.is_none() && word.starts_with('-') {
            let is_secret = SECRET.contains(&option);
            kept.extend(
                words[..=values].iter().map(|word| if is_secret { without_secret(word) } else { word.clone() }),
            );
        }
        words = &after[values..];
    }
    kept
}

/// Returns an option's word with the value left out, where that is JSON and no file.
fn without_secret(word: &str) -> String {
    let (before, value) = word.strip_prefix("--").and_then(|_| word.split_once('=')).unwrap_or(("", word));
    match value.trim_start().starts_with('{') {
        true if before.is_empty() => FILL_IN.to_owned(),
        true => format!("{before}={FILL_IN}"),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_secrets_is_left_to_be_filled_in() {
        let key = r#"{"env": {"KEY": "a-secret"}}"#;
        for option in SECRET {
            for words in [vec![option.to_owned(), key.to_owned()], vec![format!("{option}={key}")]] {
                let given =
                    ["claude".to_owned(), "-p".to_owned()].into_iter().chain(words).chain(["--verbose".to_owned()]);
                let again = Again::of(false, None, &given.map(OsString::from).collect::<Vec<_>>()).with("one");
                assert!(!again.contains("a-secret") && again.contains("{…}"), "{again}");
                assert!(again.ends_with("--verbose") && again.contains(option), "{again}");
            }
            let file = Again::of(false, None, &["claude", option, "my.json"].map(OsString::from)).with("one");
            assert!(file.ends_with(&format!("{option} my.json")), "{file}");
        }
    }
}
