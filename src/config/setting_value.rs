//! A typed value of configuration, by its form: how it is read from JSON and written as configuration would write it.
//!
//! Which key a value belongs to is said beside it, by [`crate::config::setting::Subject`]: a new key needs no new form.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::config::rate_windows::{self, WindowSetting};
use crate::domain::action::Action;
use crate::domain::limit::Limit;
use crate::domain::unit::Unit;

/// What one increase adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Increase {
    /// A part of the cap.
    Fraction(f64),
    /// So much, in the limit's base unit.
    Amount(u64),
}

impl Increase {
    /// The increase where nothing is configured.
    pub const DEFAULT: Increase = Increase::Fraction(0.5);

    /// Returns what it adds to a cap: at least one unit.
    pub fn amount(self, cap: u64) -> u64 {
        match self {
            Increase::Fraction(part) => ((cap as f64 * part).round() as u64).max(1),
            Increase::Amount(amount) => amount.max(1),
        }
    }
}

/// One typed value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A list of per cents.
    Percents(Vec<u8>),
    /// An object with every field that has a default filled in.
    Object(Map<String, Value>),
    /// A limit's cap in its base unit; `None` for no limit.
    Cap(Option<u64>),
    /// What a limit does when it trips.
    Action(Action),
    /// What an increase of a limit adds.
    Increase(Increase),
    /// The smallest and the largest cap of a limit in its base unit; `None` for no ceiling.
    Range(Option<(u64, u64)>),
    /// So many in so much time.
    Windows(Vec<WindowSetting>),
}

/// Reads JSON that has the right form into the type of the target.
pub fn typed<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Returns a value in a limit's base unit as configuration's number, whole where it is whole; a switch's as a flag.
pub fn number(limit: &Limit, value: u64) -> Value {
    if limit.unit == Unit::Switch {
        return json!(value > 0);
    }
    let number = limit.configured(value);
    if number.fract() == 0.0 && number < 9e15 { json!(number as u64) } else { json!(number) }
}

impl SettingValue {
    /// Reads `null`, a flag, a whole number, a text or an object as what it is.
    pub fn plain(value: &Value) -> Option<SettingValue> {
        match value {
            Value::Null => Some(SettingValue::Null),
            Value::Bool(flag) => Some(SettingValue::Flag(*flag)),
            Value::Number(number) => number.as_u64().map(SettingValue::Whole),
            Value::String(text) => Some(SettingValue::Text(text.clone())),
            Value::Object(fields) => Some(SettingValue::Object(fields.clone())),
            Value::Array(_) => None,
        }
    }

    /// Reads a list of texts.
    pub fn list(value: &Value) -> Option<SettingValue> {
        typed(value).map(SettingValue::List)
    }

    /// Reads a list of per cents.
    pub fn percents(value: &Value) -> Option<SettingValue> {
        typed(value).map(SettingValue::Percents)
    }

    /// Reads an action.
    pub fn action(value: &Value) -> Option<SettingValue> {
        typed(value).map(SettingValue::Action)
    }

    /// Reads the part of a cap that an increase adds.
    pub fn fraction(value: &Value) -> Option<SettingValue> {
        value.as_f64().map(|part| SettingValue::Increase(Increase::Fraction(part)))
    }

    /// Returns the value as configuration writes it; `limit` is the one that it is said of.
    pub fn written(&self, limit: Option<&Limit>) -> Value {
        let number = |value: u64| limit.map_or(Value::Null, |limit| number(limit, value));
        match self {
            SettingValue::Null | SettingValue::Range(None) => Value::Null,
            SettingValue::Flag(flag) => json!(flag),
            SettingValue::Whole(whole) => json!(whole),
            SettingValue::Text(text) => json!(text),
            SettingValue::List(list) => json!(list),
            SettingValue::Percents(list) => json!(list),
            SettingValue::Object(fields) => json!(fields),
            SettingValue::Cap(None) if limit.is_some_and(|limit| limit.unit == Unit::Switch) => json!(false),
            SettingValue::Cap(cap) => cap.map_or(Value::Null, number),
            SettingValue::Action(action) => json!(action),
            SettingValue::Increase(Increase::Fraction(part)) => json!(part),
            SettingValue::Increase(Increase::Amount(more)) => number(*more),
            SettingValue::Range(Some((low, high))) => json!([number(*low), number(*high)]),
            SettingValue::Windows(windows) => limit.map_or(Value::Null, |limit| rate_windows::written(limit, windows)),
        }
    }

    /// Returns the flag; `None` for another form.
    pub fn as_flag(&self) -> Option<bool> {
        if let SettingValue::Flag(flag) = self { Some(*flag) } else { None }
    }

    /// Returns the whole number; `None` for another form.
    pub fn as_whole(&self) -> Option<u64> {
        if let SettingValue::Whole(whole) = self { Some(*whole) } else { None }
    }

    /// Returns the text; `None` for another form.
    pub fn as_text(&self) -> Option<&str> {
        if let SettingValue::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the texts of the list; `None` for another form.
    pub fn as_list(&self) -> Option<&[String]> {
        if let SettingValue::List(list) = self { Some(list) } else { None }
    }

    /// Returns the cap; `None` for another form.
    pub fn as_cap(&self) -> Option<Option<u64>> {
        if let SettingValue::Cap(cap) = self { Some(*cap) } else { None }
    }

    /// Returns what the word stands for; `None` for another form, or for no such word.
    pub fn as_word<T: DeserializeOwned>(&self) -> Option<T> {
        let text: StrDeserializer<'_, serde::de::value::Error> = self.as_text()?.into_deserializer();
        T::deserialize(text).ok()
    }
}
