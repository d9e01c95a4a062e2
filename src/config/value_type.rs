//! The forms that values take: what is accepted, how a sentence calls it, and its JSON schema.

use serde_json::{Map, Value, json};

use crate::calendar;
use crate::domain::action::ACTIONS;
use crate::domain::text::duration;
#[cfg(feature = "watch")]
use crate::limits::REGISTRY;

/// The time zone of the machine.
pub const LOCAL_TIME: &str = "local";

/// The form of one value.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    /// Any text.
    Text,
    /// A text that is not empty.
    Filled,
    /// A list of such texts, at least one.
    Filleds,
    /// `local`, or what may be the name of a time zone.
    Zone,
    /// `null`.
    Null,
    /// An object with these fields and no others.
    Object(&'static [Field]),
    /// An object with any names, and values of this form.
    #[cfg(feature = "watch")]
    Entries(&'static ValueType),
    /// The key of a limit.
    #[cfg(feature = "watch")]
    LimitKey,
    /// One of these.
    Either(&'static [ValueType]),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or `null`.
    WordOrNull(&'static [&'static str]),
    /// An action.
    Action,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A whole number of milliseconds in this range, or a time with its unit.
    Millis(u64, u64),
    /// A number in this range.
    Number(f64, f64),
    /// A list of names.
    Names,
    /// A list of whole per cents.
    Percents,
}

/// One field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The form of its value.
    pub value_type: ValueType,
    /// Whether it has to be there.
    pub is_needed: bool,
}

impl Field {
    /// Makes a field that has to be there.
    pub const fn needed(name: &'static str, value_type: ValueType) -> Field {
        Field { name, value_type, is_needed: true }
    }

    /// Makes a field that may be left out.
    pub const fn optional(name: &'static str, value_type: ValueType) -> Field {
        Field { name, value_type, is_needed: false }
    }
}

/// What the name of a time zone looks like: `UTC`, `Europe/Berlin`, `America/Argentina/Buenos_Aires`.
const ZONE: &str = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9][A-Za-z0-9_+-]*){0,2}$";

/// Of more forms of objects than this only the names are told.
const MOST_TOLD: usize = 3;

/// The per cents at which a limit can warn early.
const PERCENTS: (u64, u64) = (1, 99);

impl ValueType {
    /// Whether a value has this form.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            ValueType::Text => value.is_string(),
            ValueType::Filled => is_filled(value),
            ValueType::Filleds => value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_filled)),
            ValueType::Zone => value.as_str().is_some_and(is_zone),
            ValueType::Null => value.is_null(),
            ValueType::Object(fields) => value.as_object().is_some_and(|entries| {
                let known = |name: &String| fields.iter().any(|field| field.name == name);
                let fits = |field: &Field| match entries.get(field.name) {
                    Some(value) => field.value_type.accepts(value),
                    None => !field.is_needed,
                };
                entries.keys().all(known) && fields.iter().all(fits)
            }),
            #[cfg(feature = "watch")]
            ValueType::Entries(value_type) => {
                value.as_object().is_some_and(|entries| entries.values().all(|value| value_type.accepts(value)))
            }
            #[cfg(feature = "watch")]
            ValueType::LimitKey => value.as_str().is_some_and(|key| REGISTRY.iter().any(|limit| limit.key == key)),
            ValueType::Either(shapes) => shapes.iter().any(|value_type| value_type.accepts(value)),
            ValueType::Flag => value.is_boolean(),
            ValueType::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            ValueType::WordOrNull(words) => value.is_null() || value.as_str().is_some_and(|word| words.contains(&word)),
            ValueType::Action => value.as_str().is_some_and(|word| action_words().any(|known| known == word)),
            ValueType::Whole(low, high) => value.as_u64().is_some_and(|number| (*low..=*high).contains(&number)),
            ValueType::Millis(low, high) => millis(value).is_some_and(|number| (*low..=*high).contains(&number)),
            ValueType::Number(low, high) => value.as_f64().is_some_and(|number| (*low..=*high).contains(&number)),
            ValueType::Names => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            ValueType::Percents => value.as_array().is_some_and(|list| {
                list.iter().all(|it| it.as_u64().is_some_and(|number| (PERCENTS.0..=PERCENTS.1).contains(&number)))
            }),
        }
    }

    /// Says what is wrong with a value that is not accepted: of an object's fields only what is.
    pub fn mismatch(&self, value: &Value) -> String {
        let (ValueType::Object(fields), Value::Object(entries)) = (self, value) else {
            return format!("it must be {}", self.expects());
        };
        let known = |name: &String| fields.iter().any(|field| field.name == name);
        let unknown = entries.keys().filter(|name| !known(name)).map(|name| format!("`{name}` is no key here"));
        let wrong = fields.iter().filter_map(|field| match entries.get(field.name) {
            Some(value) if field.value_type.accepts(value) => None,
            Some(_) => Some(format!("`{}` must be {}", field.name, field.value_type.expects())),
            None => field.is_needed.then(|| format!("`{}` ({}) is missing", field.name, field.value_type.expects())),
        });
        unknown.chain(wrong).collect::<Vec<_>>().join("; ")
    }

    /// Returns the words that are accepted, where only some are.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            ValueType::Word(words) | ValueType::WordOrNull(words) => words.to_vec(),
            ValueType::Action => action_words().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(&self) -> String {
        match self {
            ValueType::Text => "a text".to_owned(),
            ValueType::Filled => "a text that is not empty".to_owned(),
            ValueType::Filleds => "a list of texts, at least one".to_owned(),
            ValueType::Zone => "`local` or the name of a time zone such as `Europe/Berlin`".to_owned(),
            ValueType::Null => "`null`".to_owned(),
            ValueType::Object(fields) => {
                let field = |field: &Field| {
                    let optional = if field.is_needed { "" } else { ", may be left out" };
                    format!("`{}` ({}{optional})", field.name, field.value_type.expects())
                };
                format!("an object of {}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            #[cfg(feature = "watch")]
            ValueType::Entries(value_type) => format!("an object in which each value is {}", value_type.expects()),
            #[cfg(feature = "watch")]
            ValueType::LimitKey => "the key of a limit".to_owned(),
            ValueType::Either(shapes) => either(shapes),
            ValueType::Flag => "`true` or `false`".to_owned(),
            ValueType::Word(words) => one_of(words.iter().copied()),
            ValueType::WordOrNull(words) => format!("{} or `null`", one_of(words.iter().copied())),
            ValueType::Action => one_of(action_words()),
            ValueType::Whole(low, high) => format!("a whole number from {low} to {high}"),
            ValueType::Millis(low, high) => {
                format!("a time like `10m`, or a whole number from {low} to {high} (milliseconds)")
            }
            ValueType::Number(low, high) => format!("a number from {low} to {high}"),
            ValueType::Names => "a list of names".to_owned(),
            ValueType::Percents => format!("a list of whole per cents from {} to {}", PERCENTS.0, PERCENTS.1),
        }
    }

    /// Returns the JSON schema.
    pub fn schema(&self) -> Value {
        match self {
            ValueType::Text => json!({ "type": "string" }),
            ValueType::Filled => json!({ "type": "string", "minLength": 1 }),
            ValueType::Filleds => json!({ "type": "array", "items": ValueType::Filled.schema(), "minItems": 1 }),
            ValueType::Zone => json!({ "type": "string", "pattern": ZONE }),
            ValueType::Null => json!({ "type": "null" }),
            ValueType::Object(fields) => object(fields),
            #[cfg(feature = "watch")]
            ValueType::Entries(value_type) => json!({ "type": "object", "additionalProperties": value_type.schema() }),
            #[cfg(feature = "watch")]
            ValueType::LimitKey => json!({ "enum": REGISTRY.iter().map(|limit| limit.key).collect::<Vec<_>>() }),
            ValueType::Either(shapes) => json!({ "anyOf": shapes.iter().map(ValueType::schema).collect::<Vec<_>>() }),
            ValueType::Flag => json!({ "type": "boolean" }),
            ValueType::Word(words) => json!({ "enum": words }),
            ValueType::WordOrNull(words) => {
                json!({ "enum": words.iter().map(|word| json!(word)).chain([Value::Null]).collect::<Vec<_>>() })
            }
            ValueType::Action => json!({ "enum": action_words().collect::<Vec<_>>() }),
            ValueType::Whole(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
            ValueType::Millis(low, high) => times("integer", json!(low), json!(high)),
            ValueType::Number(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
            ValueType::Names => json!({ "type": "array", "items": { "type": "string" } }),
            ValueType::Percents => {
                json!({ "type": "array", "items": { "type": "integer", "minimum": PERCENTS.0, "maximum": PERCENTS.1 } })
            }
        }
    }
}

/// Reads milliseconds: a whole number, or a time with its unit.
pub fn millis(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| duration::parse(value.as_str()?))
}

/// What a time with its unit looks like.
const TIME: &str = "^([0-9]+[.]?[0-9]*|[.][0-9]+)(ms|s|m|h|d)$";

/// Returns the JSON schema of a time: a number in this range, or a text with a unit.
pub fn times(kind: &str, low: Value, high: Value) -> Value {
    json!({ "type": [kind, "string"], "minimum": low, "maximum": high, "pattern": TIME })
}

fn object(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field.value_type.schema())).collect();
    let needed: Vec<&str> = fields.iter().filter(|field| field.is_needed).map(|field| field.name).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": needed })
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Whether a text names a time zone, or the machine's.
fn is_zone(text: &str) -> bool {
    text == LOCAL_TIME || calendar::is_zone(text)
}

fn action_words() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().map(|action| action.as_str())
}

/// Returns the words for any of some forms; of many objects what each of them has to have.
fn either(shapes: &[ValueType]) -> String {
    let needed = shapes.iter().filter_map(|shape| match shape {
        ValueType::Object(fields) => fields.iter().find(|field| field.is_needed).map(|field| field.name),
        _ => None,
    });
    let needed: Vec<&str> = needed.collect();
    let is_told_in_short = needed.len() > MOST_TOLD;
    let in_short = is_told_in_short.then(|| format!("an object with {}", one_of(needed.iter().copied())));
    let others = shapes.iter().filter(|shape| !is_told_in_short || !matches!(shape, ValueType::Object(_)));
    in_short.into_iter().chain(others.map(ValueType::expects)).collect::<Vec<_>>().join(", or ")
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
