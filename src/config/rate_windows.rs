//! Limits of a number of events in a window of time, at the top of a file: their values, how they are read and written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::value_type::{Field, ValueType, millis};
use crate::domain::action::OnLimit;
use crate::domain::limit::Limit;
use crate::domain::scope::Scope;
use crate::domain::stored::serde_default::is_default;
use crate::domain::tool_name;

/// One window as the configuration has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSetting {
    /// The pattern of the tools; empty for model requests.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// How many events fit into the window.
    pub max: u64,
    /// The length of the window, in milliseconds.
    pub per_ms: u64,
    /// What it is counted over.
    pub over: Scope,
    /// What happens to a call beyond the number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_limit: OnLimit,
}

/// The bounds of the number and of the length; a window is at most a week long.
const MAX: ValueType = ValueType::Whole(1, 1_000_000);
const PER_MS: ValueType = ValueType::Millis(1, 604_800_000);

const OF_TOOLS: ValueType = ValueType::Object(&[
    Field::needed("tool", ValueType::Filled),
    Field::needed("max", MAX),
    Field::needed("per_ms", PER_MS),
    Field::optional("over", ValueType::Word(&["run", "session", "user"])),
    Field::optional("on_limit", ValueType::Word(&["refuse", "wait"])),
]);

const OF_REQUESTS: ValueType = ValueType::Object(&[
    Field::needed("max_requests", MAX),
    Field::needed("per_ms", PER_MS),
    Field::optional("over", ValueType::Word(&["session", "user"])),
]);

/// Whether a limit takes a list of windows, each for tools. Otherwise it takes one window, for model requests.
pub fn are_of_tools(limit: &Limit) -> bool {
    limit.scopes.contains(&Scope::Run)
}

/// Returns the form of one window.
pub fn value_type(limit: &Limit) -> ValueType {
    if are_of_tools(limit) { OF_TOOLS } else { OF_REQUESTS }
}

/// Returns the JSON schema of the limit's key.
pub fn schema(limit: &Limit) -> Value {
    let one = value_type(limit).schema();
    let all = if are_of_tools(limit) { json!({ "type": "array", "items": one }) } else { one };
    json!({ "anyOf": [all, { "type": "null" }] })
}

/// Reads one window; `None` where its JSON has another form.
pub fn read(limit: &Limit, value: &Value) -> Option<WindowSetting> {
    if !value_type(limit).accepts(value) {
        return None;
    }
    let max = value.get(if are_of_tools(limit) { "max" } else { "max_requests" })?.as_u64()?;
    let tool = tool_name::told_as(value.get("tool").and_then(Value::as_str).unwrap_or_default()).to_owned();
    let over = value.get("over").and_then(|it| Scope::deserialize(it).ok()).unwrap_or(Scope::Session);
    let on_limit = value.get("on_limit").and_then(|it| OnLimit::deserialize(it).ok()).unwrap_or_default();
    Some(WindowSetting { tool, max, per_ms: millis(value.get("per_ms")?)?, over, on_limit })
}

/// Returns windows as the JSON that configuration would have.
pub fn written(limit: &Limit, windows: &[WindowSetting]) -> Value {
    if are_of_tools(limit) {
        return json!(windows);
    }
    let one = |it: &WindowSetting| json!({ "max_requests": it.max, "per_ms": it.per_ms, "over": it.over });
    windows.first().map_or(Value::Null, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_that_begins_agents_is_counted_by_either_name() {
        let limit = Limit::find("rate_limits").unwrap();
        for (listed, told) in [("Task", "Agent"), ("Agent", "Agent"), ("TaskUpdate", "TaskUpdate"), ("Task*", "Task*")]
        {
            let window = read(limit, &json!({"tool": listed, "max": 1, "per_ms": 1_000}));
            assert_eq!(window.map(|it| it.tool).as_deref(), Some(told));
        }
    }
}
