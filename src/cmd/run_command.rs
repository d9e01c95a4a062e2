//! The command that `fusebox run` is given: what it starts, and what was meant where it cannot.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Value, json};

use crate::config::limit_name::{LimitName, named, names};
use crate::config::problem::nearest;
use crate::domain::scope::Scope;
use crate::domain::text::shell_word::quoted;
use crate::domain::unit::Unit;
use crate::error::{Error, Result};
use crate::install::default_files::POLICY;
use crate::platform::file_info;
use crate::ui::terminal::plain;

/// The options of `fusebox run`, and how each is typed.
pub const OPTIONS: [(&str, &str); 2] = [("--strict", "--strict"), ("--summary", "--summary FILE")];

/// Whether a command is the client itself, and no program that may start it.
pub fn is_client(command: &[OsString]) -> bool {
    command.first().is_some_and(|program| names_client(program))
}

/// Whether a program is the client, by its name.
pub fn names_client(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some("claude".as_ref())
}

/// Returns the program to run and its arguments.
pub fn read(command: &[OsString]) -> Result<(&OsStr, &[OsString])> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::usage("there is no command to run"));
    };
    let text = program.to_string_lossy();
    let Some(name) = text.strip_prefix('-') else { return Ok((program, arguments)) };
    let error = Error::usage(format!("`{text}` is no option of `fusebox run`, and no program"));
    let near = nearest(&text, OPTIONS.map(|(option, _)| option));
    let own = OPTIONS.iter().find(|(option, _)| Some(*option) == near);
    let (name, value) = name.trim_start_matches('-').split_once('=').unzip();
    let name = name.unwrap_or(text.trim_start_matches('-')).replace('-', "_");
    let value = value.map(str::to_owned).or_else(|| Some(arguments.first()?.to_string_lossy().into_owned()));
    Err(match (own, limit(&name)) {
        (Some((_, typed)), _) => error.hint(format!("`fusebox run {typed} -- claude …`")),
        (None, Some(limit)) => error.hint(in_file(&limit, &value.unwrap_or_default())),
        (None, None) => {
            error.hint("the client's own options stand behind its name: `fusebox run -- claude -p 'fix the tests'`")
        }
    })
}

/// Finds the limit that an option is meant for: `max_cost_usd` for `--max-cost`.
fn limit(name: &str) -> Option<LimitName> {
    named(name).or_else(|| named(nearest(name, names().map(|named| named.name))?))
}

/// Says where a limit stands, for it is no option: the file with the value that was given.
fn in_file(named: &LimitName, value: &str) -> String {
    let given = value.parse().map_or_else(|_| json!(value), |number: serde_json::Number| Value::Number(number));
    let usual = match named.limit.unit {
        Unit::Usd => json!(5),
        Unit::Millis => json!("10m"),
        Unit::Tokens => json!(200_000),
        Unit::Count | Unit::Percent => json!(10),
        Unit::Switch => json!(true),
    };
    let value = if matches!(named.cap(&given), Some(Some(_))) { given } else { usual };
    let blocks = [(Scope::Session, "session"), (Scope::Run, "main"), (Scope::User, "user")];
    let block = blocks.into_iter().find(|(scope, _)| named.limit.scopes.contains(scope)).map_or("main", |(_, it)| it);
    let text = json!({ block: { named.name: value } });
    format!("write {text} into ~/.claude/{POLICY}")
}

/// Returns the command that was meant where all of it stands in one pair of quotes, so that no program has its name.
pub fn misquoted(command: &[OsString]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let text = program.to_str().filter(|text| text.contains(' ') && !file_info::exists(Path::new(text)))?;
    let more: String = arguments.iter().map(|word| format!(" {}", quoted(&word.to_string_lossy()))).collect();
    Some(format!("`fusebox run -- {}{}`", plain(text), plain(&more)))
}
