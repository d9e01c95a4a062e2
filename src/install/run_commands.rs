//! Commands that settings have the client run, with no hook between: those of its helpers, of its status line and of hooks.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::shell_word::quoted;
use crate::install::handler::Handler;
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

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    hooks: Vec<Value>,
}

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
    let events = json::root(text).and_then(|root| json::member(text, &root, "hooks"));
    let events = events.map(|events| json::children(text, &events)).unwrap_or_default();
    let mut found = Vec::new();
    for (event, list) in events.into_iter().filter_map(|child| Some((child.key?, child.value))) {
        let groups: Vec<Value> = json::parse(text, &list).unwrap_or_default();
        let groups = groups.into_iter().filter_map(|group| serde_json::from_value::<Group>(group).ok());
        let handlers = groups.flat_map(|group| group.hooks).filter_map(|hook| serde_json::from_value(hook).ok());
        let others = handlers.filter(|handler: &Handler| !handler.is_ours() && !handler.is_judge());
        found.extend(others.map(|handler| (format!("a hook at {event}"), line(&handler))));
    }
    found
}

/// Returns what a handler runs as a command line.
fn line(handler: &Handler) -> String {
    match &handler.args {
        None => handler.command.clone(),
        Some(args) => [&handler.command].into_iter().chain(args).map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}
