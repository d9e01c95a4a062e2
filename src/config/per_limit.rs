//! What a key takes for each limit: an action, an increase, a ceiling.

use serde_json::{Value, json};

use crate::config::limit_name::{LimitName, names, windows};
use crate::config::setting_value::{Increase, SettingValue};
use crate::config::value_type::ValueType;
use crate::domain::limit::{Form, Limit};
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// What a key takes for each limit.
#[derive(Clone, Copy, Debug)]
pub struct Each {
    /// What the schema calls an object with one for each limit.
    pub name: &'static str,
    /// Whether it can be said of a limit.
    pub admits: fn(&Limit) -> bool,
    /// Makes the typed value for one limit, where the JSON is right.
    pub read: fn(LimitName, &Value) -> Option<SettingValue>,
    /// Returns the words for what is accepted.
    pub expects: fn(LimitName) -> String,
    /// Returns the JSON schema.
    pub schema: fn(LimitName) -> Value,
    /// Returns what is built in for one limit; `None` where nothing is.
    pub built_in: fn(&Limit) -> Option<SettingValue>,
}

/// An action for each limit.
pub const ACTIONS: Each = Each {
    name: "actions",
    admits: |_| true,
    read: |_, value| SettingValue::action(value),
    expects: |_| ValueType::Action.expects(),
    schema: |_| ValueType::Action.schema(),
    built_in: |_| None,
};

/// An amount in the unit of each limit.
pub const INCREASES: Each = Each {
    name: "increases",
    admits: is_amount,
    read: |named, value| Some(SettingValue::Increase(Increase::Amount(named.read(value)?))),
    expects: |named| named.expects(),
    schema: |named| named.schema(),
    built_in: |_| None,
};

/// The largest cap of each limit, or the smallest and the largest, or `null`.
pub const CEILINGS: Each = Each {
    name: "ceilings",
    admits: |limit| is_amount(limit) && limit.scopes.contains(&Scope::Run),
    read: |named, value| Some(SettingValue::Range(range(named, value)?)),
    expects: |named| format!("{}, `[smallest, largest]` of such, or `null`", named.expects()),
    schema: |named| {
        let pair = json!({ "type": "array", "items": named.schema(), "minItems": 2, "maxItems": 2 });
        json!({ "anyOf": [named.schema(), pair, { "type": "null" }] })
    },
    built_in: |limit| limit.ceiling.map(|range| SettingValue::Range(Some(range))),
};

impl Each {
    /// Returns the names of the limits that it can be said of.
    pub fn names(self) -> impl Iterator<Item = LimitName> {
        names().chain(windows()).filter(move |named| (self.admits)(named.limit))
    }

    /// Finds one of these limits by any of its names.
    pub fn find(self, name: &str) -> Option<LimitName> {
        self.names().find(|named| named.name == name)
    }
}

/// Whether a limit's cap is an amount that can grow.
fn is_amount(limit: &Limit) -> bool {
    limit.form == Form::Cap && limit.unit != Unit::Switch
}

/// Reads a ceiling: nothing where it is wrong, `Some(None)` for no ceiling.
fn range(named: LimitName, value: &Value) -> Option<Option<(u64, u64)>> {
    match value {
        Value::Null => Some(None),
        Value::Array(ends) => {
            let [low, high] = ends.as_slice() else { return None };
            let (low, high) = (named.read(low)?, named.read(high)?);
            (low <= high).then_some(Some((low, high)))
        }
        number => {
            let low = named.limit.ceiling.map_or(named.limit.range.0, |(low, _)| low);
            let high = named.read(number)?;
            Some(Some((low.min(high), high)))
        }
    }
}
