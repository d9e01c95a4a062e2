//! Commands that settings have the client run, with no hook between: those of its helpers, of its status line and of hooks.

use serde_json::Value;

use crate::domain::text::shell_word::quoted;
use crate::install::hooks;
use crate::install::json;
use crate::wire::bypass_detection::Guard;

/// Keys whose value is a command, or an object that has one.
const KEYS: [&str; 8] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "fileSuggestion",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "statusLine",
    "subagentStatusLine",
];

/// Returns the commands of a valid settings text that start a client without hooks, or give a person's command, each with what names it.
/// Which files are guarded is not looked at: another program can write them as well.
pub fn reaching(text: &str) -> Vec<(String, String)> {
    let guard = Guard::default();
    let mut found = named(text);
    found.extend(of_hooks(text));
    found.retain(|(_, command)| guard.command(command).is_some());
    found
}

fn named(text: &str) -> Vec<(String, String)> {
    let Some(root) = json::root(text) else { return Vec::new() };
    let command = |key: &str| {
        let value: Value = json::parse(text, &json::member(text, &root, key)?)?;
        let command = value.get("command").unwrap_or(&value).as_str()?.to_owned();
        Some((format!("`{key}`"), command))
    };
    KEYS.iter().filter_map(|key| command(key)).collect()
}

/// Returns the command lines of hooks that are not ours.
fn of_hooks(text: &str) -> Vec<(String, String)> {
    let others = hooks::others(text).into_iter();
    others.map(|(event, hook)| (format!("a hook at {event}"), line(&hook))).collect()
}

/// Returns what a hook runs as a command line, whatever else is wrong with it.
fn line(hook: &Value) -> String {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    match hook.get("args").and_then(Value::as_array) {
        None => command.to_owned(),
        Some(args) => {
            let words = [command].into_iter().chain(args.iter().filter_map(Value::as_str));
            words.map(quoted).collect::<Vec<_>>().join(" ")
        }
    }
}
