//! What is made from the tables is current: the manual's page, the schema, and the samples that both have to agree with.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use fusebox::config::keys::{FUTURE, KEYS, Level};
use fusebox::config::policy::{DECLARED, DEFAULTS};
use fusebox::config::{manual, schema};

use super::*;

/// Compares a file with what it should be; writes it instead with FUSEBOX_REGENERATE=1.
#[track_caller]
fn check_current(place: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    if env::var_os("FUSEBOX_REGENERATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{place} is not current: run the tests with FUSEBOX_REGENERATE=1");
}

#[test]
fn the_page_and_the_schema_are_current() {
    check_current("docs/config.md", &manual::page());
    check_current("docs/fusebox.schema.json", &schema::text());
}

#[test]
fn samples_are_judged_alike_by_schema_and_reader() {
    for path in samples("valid") {
        let text = fs::read_to_string(&path).unwrap();
        let json = serde_json::from_str(&text).unwrap();
        assert_eq!(objection(&schema::schema(), &json), None, "{}", path.display());
        assert_eq!(read::text(&user_file(), "f", &text).unwrap().problems, [], "{}", path.display());
    }
    for path in samples("invalid") {
        let text = fs::read_to_string(&path).unwrap();
        let json = serde_json::from_str(&text).unwrap();
        assert!(objection(&schema::schema(), &json).is_some(), "the schema accepts {}", path.display());
        let problems = read::text(&user_file(), "f", &text).unwrap().problems;
        assert!(problems.iter().any(Problem::is_error), "the reader accepts {}", path.display());
    }
}

#[test]
fn defaults_and_examples_are_valid() {
    let declared = format!(r#"{{"agents": {{"*": {DECLARED}}}}}"#);
    let mut texts = vec![DEFAULTS.to_owned(), declared, manual::EXAMPLE.to_owned()];
    for key in KEYS {
        texts.push(match key.level {
            Level::Top => format!(r#"{{"{}": {}}}"#, key.name, key.example),
            Level::Block => format!(r#"{{"main": {{"{}": {}}}}}"#, key.name, key.example),
        });
    }
    for limit in limits::ROSTER {
        texts.push(format!(r#"{{"agents": {{"x": {{"{limit}": {}}}}}}}"#, limit.example));
    }
    for text in texts {
        let (_, problems) = policy(&[(USER, &text)]);
        assert_eq!(problems, [], "{text}");
        assert_eq!(objection(&schema::schema(), &serde_json::from_str(&text).unwrap()), None, "{text}");
    }
}

#[test]
fn every_key_has_one_meaning() {
    let limits = limits::ROSTER.iter().flat_map(|it| it.aliases.iter().map(|alias| alias.key).chain([it.key]));
    let mut names: Vec<&str> = limits.chain(KEYS.iter().map(|key| key.name)).chain(FUTURE.iter().copied()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "a name stands in two rows");
    assert!(KEYS.iter().all(|key| key.doc.ends_with('.')), "docs are sentences");
}

fn user_file() -> Source {
    Source { layer: Layer::User, folder: Folder::Claude, file: "fusebox.json", part: Part::Whole }
}

fn samples(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(kind);
    let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    files
}

/// Says what a schema has against a value, as far as our own schema goes: the keywords that it uses.
fn objection(schema: &Value, value: &Value) -> Option<String> {
    fn inner(root: &Value, schema: &Value, value: &Value) -> Option<String> {
        let refused = || Some(format!("{value} against {schema}"));
        if let Some(path) = schema["$ref"].as_str() {
            return inner(root, root.pointer(path.trim_start_matches('#')).unwrap(), value);
        }
        if let Some(options) = schema["anyOf"].as_array() {
            return options.iter().map(|option| inner(root, option, value)).min_by_key(Option::is_some).unwrap();
        }
        let all = schema["allOf"].as_array().into_iter().flatten();
        if let Some(objection) = all.into_iter().find_map(|part| inner(root, part, value)) {
            return Some(objection);
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            return refused();
        }
        let kinds = if schema["type"].is_string() { json!([schema["type"]]) } else { schema["type"].clone() };
        let is_kind = |kind: &Value| match kind.as_str().unwrap() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "number" => value.is_number(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => false,
        };
        if kinds.as_array().is_some_and(|kinds| !kinds.iter().any(is_kind)) {
            return refused();
        }
        let number = value.as_f64().unwrap_or_default();
        let low = schema["minimum"].as_f64().is_some_and(|low| value.is_number() && number < low);
        if low || schema["maximum"].as_f64().is_some_and(|high| value.is_number() && number > high) {
            return refused();
        }
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let count = items.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|least| count < least)
            || schema["maxItems"].as_u64().is_some_and(|most| count > most)
        {
            return refused();
        }
        if let Some(objection) = items.iter().find_map(|item| inner(root, &schema["items"], item)) {
            return Some(objection);
        }
        let entries = value.as_object().into_iter().flatten();
        entries.into_iter().find_map(|(name, entry)| {
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(known), _) => inner(root, known, entry),
                (None, Value::Bool(false)) => Some(format!("no key `{name}` in {schema}")),
                (None, other) => inner(root, other, entry),
            }
        })
    }
    inner(schema, schema, value)
}
