//! Which values of settings the client takes. Where one value is of a kind that it does not take, it drops the whole file, and with it
//! the hooks that are registered there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::install::json;
use crate::wire::javascript_json;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The client takes it.
    Taken,
    /// The client does not take it.
    Refused,
    /// Too much may stand below the key.
    Unknown,
}

/// The client's keys by what their values are.
#[derive(Deserialize)]
struct Kinds<'a> {
    #[serde(borrow)]
    switch: Vec<&'a str>,
    text: Vec<&'a str>,
    texts: Vec<&'a str>,
    /// A whole number from 1.
    count: Vec<&'a str>,
    /// Where the client takes whatever stands there, and ignores what it has no use for.
    any: Vec<&'a str>,
    /// What too much may stand below.
    deep: Vec<&'a str>,
    /// The hook events.
    events: Vec<&'a str>,
    /// One of these words.
    choice: BTreeMap<&'a str, Vec<&'a str>>,
}

static KINDS: LazyLock<Option<Kinds>> =
    LazyLock::new(|| serde_json::from_str(include_str!("settings_values.json")).ok());

/// What a hook's fields are, beside its type.
const HOOK_TEXTS: [&str; 9] =
    ["command", "prompt", "url", "if", "statusMessage", "shell", "model", "type", "onFailure"];
const HOOK_SWITCHES: [&str; 3] = ["async", "once", "asyncRewake"];
const HOOK_TYPES: [&str; 5] = ["command", "prompt", "agent", "http", "mcp_tool"];
const PERMISSION_MODES: [&str; 7] =
    ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan", "manual"];
const SANDBOX_SWITCHES: [&str; 3] = ["enabled", "autoAllowBashIfSandboxed", "allowUnsandboxedCommands"];
const SKILL_MODES: [&str; 4] = ["on", "name-only", "user-invocable-only", "off"];

/// Returns the keys of a settings file whose values the client is not known to take, with each value as it stands, and whether the
/// client is known not to take it.
pub fn doubts(text: &str) -> Vec<(String, &str, bool)> {
    let members = json::root(text).map(|root| json::children(text, &root)).unwrap_or_default();
    let doubt = |member: json::Child| {
        let value = &text[member.value];
        let known = look(member.key.as_deref()?, &javascript_json::parse(value).unwrap_or_default());
        (known != Known::Taken).then(|| (member.key.unwrap_or_default(), value, known == Known::Refused))
    };
    members.into_iter().filter_map(doubt).collect()
}

/// Says what is known of a value at the top of a settings file.
fn look(key: &str, value: &Value) -> Known {
    let Some(kinds) = &*KINDS else { return Known::Unknown };
    let has = |keys: &[&str]| keys.contains(&key);
    let is_taken = match key {
        _ if has(&kinds.any) => true,
        _ if has(&kinds.switch) => value.is_boolean(),
        _ if has(&kinds.text) => value.is_string(),
        _ if has(&kinds.texts) => is_texts(value),
        _ if has(&kinds.count) => value.as_u64().is_some_and(|count| count > 0),
        "env" => is_map(value, |it| it.is_string() || it.is_number() || it.is_boolean()),
        "enabledPlugins" => is_map(value, |it| it.is_boolean() || is_texts(it)),
        "modelOverrides" => is_map(value, Value::is_string),
        "skillOverrides" => is_map(value, |it| is_one_of(it, &SKILL_MODES)),
        "statusLine" => value.as_object().is_some_and(is_status_line),
        "attribution" => value.is_boolean() || value.as_object().is_some_and(is_attribution),
        "sandbox" | "extraKnownMarketplaces" => return value.as_object().map_or(Known::Refused, |it| nested(key, it)),
        "permissions" => return value.as_object().map_or(Known::Refused, permissions),
        "hooks" => return value.as_object().map_or(Known::Refused, |events| hooks(events, &kinds.events)),
        _ if has(&kinds.deep) => return Known::Unknown,
        // The client lets through what it does not know.
        _ => kinds.choice.get(key).is_none_or(|words| is_one_of(value, words)),
    };
    if is_taken { Known::Taken } else { Known::Refused }
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
}

fn is_map(value: &Value, takes: impl Fn(&Value) -> bool) -> bool {
    value.as_object().is_some_and(|map| map.values().all(takes))
}

fn is_one_of(value: &Value, words: &[&str]) -> bool {
    value.as_str().is_some_and(|word| words.contains(&word))
}

fn is_status_line(line: &Map<String, Value>) -> bool {
    let has = |key: &str, takes: fn(&Value) -> bool| line.get(key).is_some_and(takes);
    let may_have = |key: &str, takes: fn(&Value) -> bool| line.get(key).is_none_or(takes);
    has("type", |it| it == "command")
        && has("command", Value::is_string)
        && may_have("padding", Value::is_number)
        && may_have("hideVimModeIndicator", Value::is_boolean)
}

fn is_attribution(parts: &Map<String, Value>) -> bool {
    parts.iter().all(|(key, value)| match key.as_str() {
        "commit" | "pr" => value.is_string(),
        "sessionUrl" => value.is_boolean(),
        _ => true,
    })
}

/// What is known of two objects of objects, which the client's own commands write.
fn nested(key: &str, members: &Map<String, Value>) -> Known {
    let is_marketplace = |it: &Value| {
        let is_known = it.as_object().is_some_and(|it| it.keys().all(|key| key == "source"));
        is_known && it.get("source").is_some_and(|source| is_map(source, Value::is_string))
    };
    let is_known = match key {
        "sandbox" => {
            members.iter().all(|(name, value)| SANDBOX_SWITCHES.contains(&name.as_str()) && value.is_boolean())
        }
        _ => members.values().all(is_marketplace),
    };
    if is_known { Known::Taken } else { Known::Unknown }
}

/// What is known of the permissions: what stands below a name that is not known here is not.
fn permissions(permissions: &Map<String, Value>) -> Known {
    let each = permissions.iter().map(|(key, value)| match key.as_str() {
        // Of these the client skips what it does not take.
        "allow" | "deny" | "ask" if value.is_array() => Known::Taken,
        "allow" | "deny" | "ask" => Known::Refused,
        "additionalDirectories" if is_texts(value) => Known::Taken,
        "defaultMode" if is_one_of(value, &PERMISSION_MODES) => Known::Taken,
        "disableBypassPermissionsMode" | "disableAutoMode" if value == "disable" => Known::Taken,
        "additionalDirectories" | "defaultMode" | "disableBypassPermissionsMode" | "disableAutoMode" => Known::Refused,
        _ => Known::Unknown,
    });
    worst(each)
}

/// What is known of the hooks.
fn hooks(events: &Map<String, Value>, known: &[&str]) -> Known {
    let is_entry = |hook: &Value| hook.as_object().is_some_and(is_hook);
    let is_group = |group: &Value| {
        let has_matcher = group.get("matcher").is_none_or(Value::is_string);
        has_matcher && group.get("hooks").and_then(Value::as_array).is_some_and(|hooks| hooks.iter().all(is_entry))
    };
    let is_event = |(name, groups): (&String, &Value)| {
        known.contains(&name.as_str()) && groups.as_array().is_some_and(|groups| groups.iter().all(is_group))
    };
    if events.iter().all(is_event) { Known::Taken } else { Known::Unknown }
}

fn is_hook(hook: &Map<String, Value>) -> bool {
    let has_type = hook.get("type").is_some_and(|kind| is_one_of(kind, &HOOK_TYPES));
    has_type
        && hook.iter().all(|(key, value)| match key.as_str() {
            "args" => is_texts(value),
            "timeout" => value.as_f64().is_some_and(|seconds| seconds > 0.0),
            key if HOOK_TEXTS.contains(&key) => value.is_string(),
            key if HOOK_SWITCHES.contains(&key) => value.is_boolean(),
            _ => false,
        })
}

fn worst(each: impl Iterator<Item = Known>) -> Known {
    let mut all = Known::Taken;
    for one in each {
        all = match (all, one) {
            (Known::Refused, _) | (_, Known::Refused) => Known::Refused,
            (Known::Unknown, _) | (_, Known::Unknown) => Known::Unknown,
            _ => Known::Taken,
        };
    }
    all
}

#[cfg(test)]
mod tests;
