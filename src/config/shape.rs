//! The forms that values take: what is accepted, how a sentence calls it, and its JSON schema.

use serde_json::{Value, json};

use crate::engine::policy::ACTIONS;
use crate::limits::{Limit, ROSTER, Unit};

/// The form of one value.
#[derive(Debug)]
pub enum Shape {
    /// Any text.
    Text,
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
    /// A number in this range.
    Number(f64, f64),
    /// A list of names.
    Names,
    /// A list of whole per cents.
    Percents,
}

/// The per cents at which a limit can warn early.
const PERCENTS: (u64, u64) = (1, 99);

impl Shape {
    /// Whether a value has this form.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Shape::Text => value.is_string(),
            Shape::Flag => value.is_boolean(),
            Shape::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Shape::WordOrNull(words) => value.is_null() || value.as_str().is_some_and(|word| words.contains(&word)),
            Shape::Action => value.as_str().is_some_and(|word| action_words().any(|known| known == word)),
            Shape::Whole(low, high) => value.as_u64().is_some_and(|number| (*low..=*high).contains(&number)),
            Shape::Number(low, high) => value.as_f64().is_some_and(|number| (*low..=*high).contains(&number)),
            Shape::Names => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            Shape::Percents => value.as_array().is_some_and(|list| {
                list.iter().all(|it| it.as_u64().is_some_and(|number| (PERCENTS.0..=PERCENTS.1).contains(&number)))
            }),
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(&self) -> String {
        match self {
            Shape::Text => "a text".to_owned(),
            Shape::Flag => "`true` or `false`".to_owned(),
            Shape::Word(words) => one_of(words.iter().copied()),
            Shape::WordOrNull(words) => format!("{} or `null`", one_of(words.iter().copied())),
            Shape::Action => one_of(action_words()),
            Shape::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Shape::Number(low, high) => format!("a number from {low} to {high}"),
            Shape::Names => "a list of names".to_owned(),
            Shape::Percents => format!("a list of whole per cents from {} to {}", PERCENTS.0, PERCENTS.1),
        }
    }

    /// Returns the JSON schema.
    pub fn schema(&self) -> Value {
        match self {
            Shape::Text => json!({ "type": "string" }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::Word(words) => json!({ "enum": words }),
            Shape::WordOrNull(words) => {
                json!({ "enum": words.iter().map(|word| json!(word)).chain([Value::Null]).collect::<Vec<_>>() })
            }
            Shape::Action => json!({ "enum": action_words().collect::<Vec<_>>() }),
            Shape::Whole(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
            Shape::Number(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
            Shape::Names => json!({ "type": "array", "items": { "type": "string" } }),
            Shape::Percents => {
                json!({ "type": "array", "items": { "type": "integer", "minimum": PERCENTS.0, "maximum": PERCENTS.1 } })
            }
        }
    }
}

fn action_words() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().map(|action| action.as_str())
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A limit under one of its names: `timeout` is `max_wall_ms` in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The limit.
    pub limit: &'static Limit,
    /// What a value under this name is multiplied by.
    pub scale: u64,
    /// The name.
    pub name: &'static str,
}

/// Returns every name of every limit: each key before its aliases.
pub fn names() -> impl Iterator<Item = Named> {
    ROSTER.into_iter().flat_map(|limit| {
        let aliases = limit.aliases.iter().map(move |it| Named { limit, scale: it.scale, name: it.key });
        std::iter::once(Named { limit, scale: 1, name: limit.key }).chain(aliases)
    })
}

/// Finds a limit by any of its names.
pub fn named(name: &str) -> Option<Named> {
    names().find(|named| named.name == name)
}

impl Named {
    /// Reads a value under this name into the limit's base unit, where it is in the limit's range.
    pub fn read(&self, value: &Value) -> Option<u64> {
        let base = self.limit.base(value.as_f64()? * self.scale as f64)?;
        (self.limit.range.0..=self.limit.range.1).contains(&base).then_some(base)
    }

    /// Returns the range under this name.
    pub fn range(&self) -> (f64, f64) {
        let (low, high) = self.limit.range;
        (self.limit.configured(low) / self.scale as f64, self.limit.configured(high) / self.scale as f64)
    }

    /// Returns the unit under this name.
    pub fn unit(&self) -> &'static str {
        match (self.limit.unit, self.scale) {
            (Unit::Millis, 1000) => "seconds",
            (Unit::Millis, _) => "milliseconds",
            (Unit::Usd, _) => "US dollars",
            (Unit::Tokens, _) => "tokens",
            (Unit::Count, _) => self.limit.label,
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(&self) -> String {
        let (low, high) = self.range();
        let whole = if self.takes_fractions() { "" } else { "whole " };
        format!("a {whole}number from {low} to {high} ({})", self.unit())
    }

    /// Returns the JSON schema of a number under this name.
    pub fn schema(&self) -> Value {
        let (low, high) = self.range();
        let edge = |number: f64| if number.fract() == 0.0 { json!(number as u64) } else { json!(number) };
        let kind = if self.takes_fractions() { "number" } else { "integer" };
        json!({ "type": kind, "minimum": edge(low), "maximum": edge(high) })
    }

    fn takes_fractions(&self) -> bool {
        self.limit.unit == Unit::Usd || self.scale != 1
    }
}

/// Returns a value in a limit's base unit as configuration would write it.
pub fn written(limit: &Limit, value: u64) -> String {
    limit.configured(value).to_string()
}
