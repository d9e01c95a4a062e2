//! Reads YAML into JSON values. By hand from a parser's events: a whole deserializer with its diagnostics is half a megabyte.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// How many values a document may come to: an alias repeats what it names, and aliases of aliases grow without end.
const MOST_VALUES: usize = 10_000;

/// Reads a text that is one document. The error is a sentence's end: where it is wrong, and what is.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader::default();
    let mut whole = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| at(error.marker(), &error.info()))?;
        let read = match event {
            Event::DocumentStart(..) if whole.is_some() => Err("there is a second document".to_owned()),
            event => reader.take(event),
        };
        whole = read.map_err(|what| at(&span.start, &what))?.or(whole);
    }
    Ok(whole.unwrap_or_default())
}

fn at(place: &granit_parser::Marker, what: &str) -> String {
    format!("line {} column {}: {what}", place.line(), place.col() + 1)
}

/// A list or an object that has begun, and the number by which an alias can name it; 0 for none.
enum Open {
    List(usize, Vec<Value>),
    Object(usize, Map<String, Value>, Option<String>),
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Value>,
    values: usize,
}

impl Reader {
    /// Takes an event; returns the document's value where that is complete.
    fn take(&mut self, event: Event<'_>) -> Result<Option<Value>, String> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let value = if style == ScalarStyle::Plain { plain(&text) } else { Value::String(text.into_owned()) };
                self.put(anchor, value)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open.push(Open::List(anchor, Vec::new()));
                Ok(None)
            }
            Event::MappingStart(_, anchor, _) => {
                self.open.push(Open::Object(anchor, Map::new(), None));
                Ok(None)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(anchor, list)) => self.put(anchor, Value::Array(list)),
                Some(Open::Object(anchor, object, _)) => self.put(anchor, Value::Object(object)),
                None => Ok(None),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(value) => {
                    let value = value.clone();
                    self.values += size(&value);
                    self.put(0, value)
                }
                None => Err("an alias names what it stands in".to_owned()),
            },
            _ => Ok(None),
        }
    }

    /// Puts a value where it belongs.
    fn put(&mut self, anchor: usize, value: Value) -> Result<Option<Value>, String> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(format!("there are more than {MOST_VALUES} values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some(Open::List(_, list)) => list.push(value),
            Some(Open::Object(_, object, key)) => match key.take() {
                Some(key) if object.contains_key(&key) => return Err(format!("`{key}` stands here twice")),
                Some(name) => _ = object.insert(name, value),
                None => *key = Some(name(value)?),
            },
        }
        Ok(None)
    }
}

/// Returns a key as JSON has it: a text.
fn name(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Array(_) | Value::Object(_) => Err("a key is a list or an object".to_owned()),
        other => Ok(other.to_string()),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Object(object) => 1 + object.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// Returns what a text without quotes stands for: YAML 1.2's values, and the words for true and false of YAML 1.1.
fn plain(text: &str) -> Value {
    match text.to_ascii_lowercase().as_str() {
        "" | "~" | "null" => return Value::Null,
        "true" | "yes" | "on" => return Value::Bool(true),
        "false" | "no" | "off" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let whole = text.parse().map(|number: u64| Number::from(number)).or_else(|_| text.parse::<i64>().map(Number::from));
    whole.ok().or_else(|| text.parse().ok().and_then(Number::from_f64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, value: Value) {
        assert_eq!(parse(text), Ok(value), "{text}");
    }

    #[test]
    fn values() {
        check("", Value::Null);
        check(
            "a: 1\nb: [x, 'y', \"z\", 2.5]\nc: {d: ~, e: yes, f: Off}\n",
            json!({"a": 1, "b": ["x", "y", "z", 2.5], "c": {"d": null, "e": true, "f": false}}),
        );
        check(
            "a: -3\nb: +4\nc: 0x10\nd: 0o17\ne: 1e3\nf: .5\n",
            json!({"a": -3, "b": 4, "c": 16, "d": 15, "e": 1000.0, "f": 0.5}),
        );
        check(
            "a: 10m\nb: 1_000\nc: nan\nd: '5'\ne: |\n  two\n  lines\n",
            json!({"a": "10m", "b": "1_000", "c": "nan", "d": "5", "e": "two\nlines\n"}),
        );
        check("1: a\ntrue: b\n", json!({"1": "a", "true": "b"}));
        check("a: &n {max: 1} # of a\nb: *n\n", json!({"a": {"max": 1}, "b": {"max": 1}}));
    }

    #[test]
    fn what_is_wrong_and_where() {
        let check = |text: &str, what: &str| assert_eq!(parse(text), Err(what.to_owned()), "{text}");
        check("a: 1\na: 2\n", "line 2 column 4: `a` stands here twice");
        check("? [a]\n: 1\n", "line 1 column 5: a key is a list or an object");
        check("a: 1\n---\nb: 2\n", "line 2 column 1: there is a second document");
        check("a: &n [*n]\n", "line 1 column 8: an alias names what it stands in");
        let more = |level: u32| format!("a{level}: &a{level} [{}]\n", format!("*a{}, ", level - 1).repeat(9));
        let bomb = format!("a0: &a0 [x]\n{}", (1..9).map(more).collect::<String>());
        assert!(parse(&bomb).is_err_and(|what| what.ends_with("there are more than 10000 values")), "{bomb}");
    }
}
