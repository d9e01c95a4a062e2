//! What of a value fits its form: what does not is dropped alone, where the rest means the same without it.

use serde_json::{Map, Value};

use crate::config::value_type::{Field, ValueType};

/// A part of a value that does not fit.
#[derive(Debug)]
pub struct Misfit<'a> {
    /// Its key, from the top of the document.
    pub at: String,
    /// The part, as it was written.
    pub value: &'a Value,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a part of a value.
#[derive(Clone, Copy, Debug)]
pub enum Why {
    /// Its key is none of these.
    NoSuchKey(&'static [Field]),
    /// It is not of this form.
    Mismatch(ValueType),
}

/// Returns what of a value fits a form; nothing where none of it does. An object that has to have a field is one thing, and fits whole
/// or not at all: without one of its fields it might mean more than it says.
pub fn fitting<'a>(form: ValueType, value: &'a Value, at: &str, misfits: &mut Vec<Misfit<'a>>) -> Option<Value> {
    if form.accepts(value) {
        return Some(value.clone());
    }
    match (form, value) {
        (ValueType::Object(fields), Value::Object(entries)) if fields.iter().all(|field| !field.is_needed) => {
            Some(parts(entries, at, misfits, |name| match fields.iter().find(|field| field.name == name) {
                Some(field) => Ok(field.value_type),
                None => Err(Why::NoSuchKey(fields)),
            }))
        }
        #[cfg(feature = "watch")]
        (ValueType::Entries(each), Value::Object(entries)) => Some(parts(entries, at, misfits, |_| Ok(*each))),
        (ValueType::Either(forms), Value::Object(entries)) if nearest(forms, entries).is_some() => {
            fitting(nearest(forms, entries)?, value, at, misfits)
        }
        _ => {
            misfits.push(Misfit { at: at.to_owned(), value, why: Why::Mismatch(form) });
            None
        }
    }
}

/// Returns the parts of an object that fit, each the form of its name.
fn parts<'a>(
    entries: &'a Map<String, Value>,
    at: &str,
    misfits: &mut Vec<Misfit<'a>>,
    form: impl Fn(&str) -> Result<ValueType, Why>,
) -> Value {
    let mut kept = Map::new();
    for (name, value) in entries {
        let at = format!("{at}.{name}");
        match form(name) {
            Ok(form) => kept.extend(fitting(form, value, &at, misfits).map(|value| (name.clone(), value))),
            Err(why) => misfits.push(Misfit { at, value, why }),
        }
    }
    Value::Object(kept)
}

/// Returns the form of an object that has most keys in common with one, if any has one or takes any.
fn nearest(forms: &[ValueType], entries: &Map<String, Value>) -> Option<ValueType> {
    let shared = |form: &ValueType| match form {
        ValueType::Object(fields) => fields.iter().filter(|field| entries.contains_key(field.name)).count(),
        _ => 0,
    };
    forms.iter().copied().filter(|form| shared(form) > 0).max_by_key(shared)
}

#[cfg(all(test, feature = "watch"))]
mod tests {
    use super::*;
    use crate::config::alerts::ALERTS;
    use serde_json::json;

    #[test]
    fn one_slip_drops_itself_alone() {
        let limit = crate::limits::REGISTRY[0].key;
        let rule = json!({"limit": limit, "percent": 50});
        for (said, kept, at) in [
            (
                json!({"rules": {"a": rule, "b": {"usd_per_hour": "25"}}}),
                json!({"rules": {"a": rule}}),
                "alerts.rules.b",
            ),
            (json!({"desktop": 1, "rules": {"a": rule}}), json!({"rules": {"a": rule}}), "alerts.desktop"),
            (json!({"ruels": {}, "command": "x"}), json!({"command": "x"}), "alerts.ruels"),
            (
                json!({"command": "x", "rules": {"b": {"limit": limit, "percent": 50, "agent": "dev"}}}),
                json!({"command": "x", "rules": {}}),
                "alerts.rules.b",
            ),
            (
                json!({"command": {"command": "x", "timeout_ms": -1}, "desktop": true}),
                json!({"desktop": true}),
                "alerts.command",
            ),
        ] {
            let mut misfits = Vec::new();
            assert_eq!(fitting(ALERTS, &said, "alerts", &mut misfits), Some(kept), "{said}");
            assert_eq!(misfits.iter().map(|misfit| misfit.at.as_str()).collect::<Vec<_>>(), [at], "{said}");
        }
    }
}
