//! The values of what a run owes and how it may end: checkpoints, the checking command, the explicit stop, discipline.
//!
//! A value is kept as an object with the fields of the engine's type, without the layer, which is known where it is resolved.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::config::resolved::Discipline;
use crate::config::setting_value::SettingValue;
use crate::config::value_type::{Field, ValueType, millis};
use crate::domain::layer::Layer;
use crate::domain::time_units::{MINUTE_MS, YEAR_MS};

/// How often an agent is sent back where nobody says.
const RETRIES: u64 = 1;
/// What a command may take where nobody says: less than the client gives the hook.
const TIMEOUT_MS: u64 = MINUTE_MS.cast_unsigned();
/// The longest time in milliseconds: a year.
const LONGEST_MS: u64 = YEAR_MS.cast_unsigned();
const RETRIES_TAKE: ValueType = ValueType::Whole(0, 10);

/// What `checkpoints` takes.
pub const CHECKPOINTS: ValueType = ValueType::Either(&[
    ValueType::Object(&[
        Field::needed("file", ValueType::Filled),
        Field::needed("required", ValueType::Filleds),
        Field::optional("max_gap_ms", ValueType::Millis(1, LONGEST_MS)),
        Field::optional("retries", RETRIES_TAKE),
    ]),
    ValueType::Null,
]);

/// What `completion` takes.
pub const COMPLETION: ValueType = ValueType::Either(&[
    ValueType::Filled,
    ValueType::Object(&[
        Field::needed("command", ValueType::Filled),
        Field::optional("timeout_ms", ValueType::Millis(1, 600_000)),
        Field::optional("retries", RETRIES_TAKE),
    ]),
    ValueType::Null,
]);

/// What `explicit_stop` takes.
pub const EXPLICIT_STOP: ValueType = ValueType::Either(&[
    ValueType::Filled,
    ValueType::Object(&[Field::needed("tools", ValueType::Filleds), Field::optional("marker", ValueType::Filled)]),
    ValueType::Object(&[Field::needed("marker", ValueType::Filled)]),
    ValueType::Null,
]);

/// What `discipline` takes.
pub const DISCIPLINE: ValueType = ValueType::Either(&[ValueType::Flag, ValueType::Filled, ValueType::Null]);

/// Reads `checkpoints`.
pub fn checkpoints(value: &Value) -> Option<SettingValue> {
    let Some(fields) = fields(value)? else { return Some(SettingValue::Null) };
    let mut whole = Map::new();
    for name in ["file", "required"] {
        whole.insert(name.to_owned(), fields.get(name)?.clone());
    }
    whole.insert("retries".to_owned(), or(fields, "retries", RETRIES));
    whole.extend(fields.get("max_gap_ms").and_then(millis).map(|gap| ("max_gap_ms".to_owned(), json!(gap))));
    Some(SettingValue::Object(whole))
}

/// Reads `completion`.
pub fn completion(value: &Value) -> Option<SettingValue> {
    let command = json!({ "command": value });
    let Some(fields) = fields(if value.is_string() { &command } else { value })? else {
        return Some(SettingValue::Null);
    };
    let mut whole = Map::new();
    whole.insert("command".to_owned(), fields.get("command")?.clone());
    whole.insert("timeout_ms".to_owned(), json!(fields.get("timeout_ms").and_then(millis).unwrap_or(TIMEOUT_MS)));
    whole.insert("retries".to_owned(), or(fields, "retries", RETRIES));
    Some(SettingValue::Object(whole))
}

/// Reads `explicit_stop`.
pub fn explicit_stop(value: &Value) -> Option<SettingValue> {
    let tool = json!({ "tools": [value] });
    let Some(fields) = fields(if value.is_string() { &tool } else { value })? else { return Some(SettingValue::Null) };
    let mut whole = Map::new();
    whole.insert("tools".to_owned(), fields.get("tools").cloned().unwrap_or_else(|| json!([])));
    whole.extend(fields.get_key_value("marker").map(|(name, marker)| (name.clone(), marker.clone())));
    Some(SettingValue::Object(whole))
}

/// Reads `discipline`: `null` is `false`.
pub fn discipline(value: &Value) -> Option<SettingValue> {
    SettingValue::plain(if value.is_null() { &Value::Bool(false) } else { value })
}

/// Returns the text that `discipline` asks for.
pub fn discipline_of(value: &SettingValue) -> Discipline {
    match value {
        SettingValue::Flag(true) => Discipline::Standard,
        SettingValue::Text(text) => Discipline::Own(text.clone()),
        _ => Discipline::Off,
    }
}

/// Returns the engine's type for a value of this layer; `None` for `null`.
pub fn of_layer<T: DeserializeOwned>(value: &SettingValue, layer: Layer) -> Option<T> {
    let SettingValue::Object(fields) = value else { return None };
    let mut fields = fields.clone();
    fields.insert("layer".to_owned(), json!(layer));
    T::deserialize(Value::Object(fields)).ok()
}

/// Returns the fields of an object: nothing for another value, `Some(None)` for `null`.
fn fields(value: &Value) -> Option<Option<&Map<String, Value>>> {
    if value.is_null() { Some(None) } else { value.as_object().map(Some) }
}

fn or(fields: &Map<String, Value>, name: &str, default: u64) -> Value {
    fields.get(name).cloned().unwrap_or_else(|| json!(default))
}
