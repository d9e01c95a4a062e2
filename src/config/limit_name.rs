//! Limits under each of their names in configuration: what they take there, and how a value is read and written.

use serde_json::{Value, json};

use crate::config::value_type::{ValueType, times};
use crate::domain::limit::{Counts, Form, Limit, Span};
use crate::domain::scope::Scope;
use crate::domain::text::duration;
use crate::domain::unit::Unit;
use crate::limits::REGISTRY;

/// A limit under one of its names: `timeout` is `max_wall_ms` in seconds.
#[derive(Clone, Copy, Debug)]
pub struct LimitName {
    /// The limit.
    pub limit: &'static Limit,
    /// What a value under this name is multiplied by.
    pub scale: u64,
    /// The name.
    pub name: &'static str,
}

/// Returns every name of every limit that has a cap: each key before its aliases.
pub fn names() -> impl Iterator<Item = LimitName> {
    REGISTRY.iter().copied().filter(|limit| limit.form == Form::Cap).flat_map(|limit| {
        let aliases = limit.aliases.iter().map(move |it| LimitName { limit, scale: it.scale, name: it.key });
        std::iter::once(LimitName { limit, scale: 1, name: limit.key }).chain(aliases)
    })
}

/// Returns the limits of so many in so much time, which stand at the top of a file.
pub fn windows() -> impl Iterator<Item = LimitName> {
    let limits = REGISTRY.iter().copied().filter(|limit| limit.form == Form::Windows);
    limits.map(|limit| LimitName { limit, scale: 1, name: limit.key })
}

/// Finds a limit that has a cap by any of its names.
pub fn named(name: &str) -> Option<LimitName> {
    names().find(|named| named.name == name)
}

/// Returns the limit on the cost of a period.
pub fn on_cost_of(span: Span) -> Option<LimitName> {
    Limit::on_cost_of(span).and_then(|limit| named(limit.key))
}

impl LimitName {
    /// Reads a value under this name into the limit's base unit, where it is in the limit's range.
    pub fn read(&self, value: &Value) -> Option<u64> {
        let base = match value {
            Value::String(text) if self.limit.unit == Unit::Millis => duration::parse(text)?,
            number => self.limit.base(number.as_f64()? * self.scale as f64)?,
        };
        (self.limit.range.0..=self.limit.range.1).contains(&base).then_some(base)
    }

    /// Reads what a block says under this name: nothing where it is wrong, `Some(None)` for no limit.
    pub fn cap(&self, value: &Value) -> Option<Option<u64>> {
        match (self.limit.unit, value) {
            (_, Value::Null) | (Unit::Switch, Value::Bool(false)) => Some(None),
            (Unit::Switch, Value::Bool(true)) => Some(Some(1)),
            (Unit::Switch, _) => None,
            (_, number) => self.read(number).map(Some),
        }
    }

    /// Whether it can be said of some models: what requests spend, of all models, over this scope.
    pub fn is_of_models(&self, scope: Scope) -> bool {
        self.limit.counts == Counts::All && self.limit.spent_by_requests() && self.limit.scopes.contains(&scope)
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
            (Unit::Percent, _) => "per cent",
            (Unit::Count, _) => self.limit.texts.label,
            (Unit::Switch, _) => "`true` or `false`",
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(&self) -> String {
        if self.limit.unit == Unit::Switch {
            return ValueType::Flag.expects();
        }
        let (low, high) = self.range();
        let whole = if self.takes_fractions() { "" } else { "whole " };
        let time = if self.limit.unit == Unit::Millis { "a time like `10m`, or " } else { "" };
        format!("{time}a {whole}number from {low} to {high} ({})", self.unit())
    }

    /// Returns the JSON schema of a number under this name.
    pub fn schema(&self) -> Value {
        if self.limit.unit == Unit::Switch {
            return ValueType::Flag.schema();
        }
        let (low, high) = self.range();
        let edge = |number: f64| if number.fract() == 0.0 { json!(number as u64) } else { json!(number) };
        let kind = if self.takes_fractions() { "number" } else { "integer" };
        match self.limit.unit {
            Unit::Millis => times(kind, edge(low), edge(high)),
            _ => json!({ "type": kind, "minimum": edge(low), "maximum": edge(high) }),
        }
    }

    fn takes_fractions(&self) -> bool {
        self.limit.unit == Unit::Usd || self.scale != 1
    }
}

/// Returns a value in a limit's base unit as configuration would write it.
pub fn written(limit: &Limit, value: u64) -> String {
    if limit.unit == Unit::Switch {
        return (value > 0).to_string();
    }
    limit.configured(value).to_string()
}
