//! What a key takes for each limit: an action, an increase, a ceiling.

use serde_json::{Value, json};

use crate::config::limit_name;
use crate::config::limit_name::Named;
use crate::config::setting::{Increase, Term, typed};
use crate::config::shape::Shape;
use crate::engine::policy::Scope;
use crate::limits::{Form, Limit, Unit};

/// What a key takes for each limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// An action.
    Action,
    /// An amount in the limit's unit.
    Increase,
    /// The largest cap, or the smallest and the largest, or `null`.
    Ceiling,
}

/// Every kind of it.
pub const EACH: [Each; 3] = [Each::Action, Each::Increase, Each::Ceiling];

impl Each {
    /// Returns what the schema calls an object with one for each limit.
    pub fn name(self) -> &'static str {
        match self {
            Each::Action => "actions",
            Each::Increase => "increases",
            Each::Ceiling => "ceilings",
        }
    }

    /// Returns the names of the limits that it can be said of.
    pub fn names(self) -> impl Iterator<Item = Named> {
        limit_name::names().chain(limit_name::windows()).filter(move |named| self.admits(named.limit))
    }

    /// Finds one of these limits by any of its names.
    pub fn find(self, name: &str) -> Option<Named> {
        self.names().find(|named| named.name == name)
    }

    fn admits(self, limit: &Limit) -> bool {
        let is_amount = limit.form == Form::Cap && limit.unit != Unit::Switch;
        match self {
            Each::Action => true,
            Each::Increase => is_amount,
            Each::Ceiling => is_amount && limit.scopes.contains(&Scope::Run),
        }
    }

    /// Makes the typed value for one limit, where the JSON is right.
    pub fn read(self, named: Named, value: &Value) -> Option<Term> {
        let limit = named.limit;
        match self {
            Each::Action => Some(Term::Action { limit: Some(limit), action: typed(value)? }),
            Each::Increase => Some(Term::Increase { limit: Some(limit), by: Increase::Amount(named.read(value)?) }),
            Each::Ceiling => Some(Term::Ceiling { limit, range: range(named, value)? }),
        }
    }

    /// Returns the words for what is accepted.
    pub fn expects(self, named: Named) -> String {
        match self {
            Each::Action => Shape::Action.expects(),
            Each::Increase => named.expects(),
            Each::Ceiling => format!("{}, `[smallest, largest]` of such, or `null`", named.expects()),
        }
    }

    /// Returns the JSON schema.
    pub fn schema(self, named: Named) -> Value {
        match self {
            Each::Action => Shape::Action.schema(),
            Each::Increase => named.schema(),
            Each::Ceiling => {
                let pair = json!({ "type": "array", "items": named.schema(), "minItems": 2, "maxItems": 2 });
                json!({ "anyOf": [named.schema(), pair, { "type": "null" }] })
            }
        }
    }
}

/// Reads a ceiling: nothing where it is wrong, `Some(None)` for no ceiling.
fn range(named: Named, value: &Value) -> Option<Option<(u64, u64)>> {
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
