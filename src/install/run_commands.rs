//! Commands that settings have the client run, with no hook between: those of its helpers, of its status line and of hooks.

use serde_json::Value;

use crate::domain::shell_word::quoted;
use crate::install::handler::Handler;
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

/// Returns the commands of a valid settings text that do what an agent may not have done, each with what names it.
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
    let others = hooks::others(text).into_iter().filter_map(|(event, hook)| Some((event, hook.1?)));
    others.map(|(event, handler)| (format!("a hook at {event}"), line(&handler))).collect()
}

/// Returns what a handler runs as a command line.
fn line(handler: &Handler) -> String {
    match &handler.args {
        None => handler.command.clone(),
        Some(args) => [&handler.command].into_iter().chain(args).map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}
