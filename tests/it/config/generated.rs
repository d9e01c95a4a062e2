//! What is made from the tables is current: the manual's page, the schema, and the samples that both have to agree with.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use serde_json::{Map, Value, json};

use fusebox::config::key::{Apply, Key, Takes};
use fusebox::config::keys::{self, OF_OTHER_BUILDS};
use fusebox::config::layers::{FilePart, Folder, LayerFile};
use fusebox::config::place::{BLOCKS, Block};
use fusebox::config::policy::{DECLARED, DEFAULTS, PLAN, Policy};
use fusebox::config::problem::Problem;
use fusebox::config::resolved::Resolved;
use fusebox::config::{limit_name, read, schema};
use fusebox::domain::action::ACTIONS;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::{Form, Limit};
use fusebox::domain::spend::amount::PICO;
use fusebox::domain::unit::Unit;
use fusebox::limits;

use crate::config::{MANAGED, PROJECT, USER, manual, policy};
use crate::world::check_current;

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

/// What a pattern of the schema says in an editor is what the reader says.
#[test]
fn texts_are_judged_alike_by_schema_and_reader() {
    let is_taken = |file: &Value| {
        let is_read = read_policy(&file.to_string()).1.is_empty();
        let is_in_schema = objection(&schema::schema(), file).is_none();
        (is_read, is_in_schema)
    };
    for time in [
        "90s", "1.5h", "500ms", "2d", "10m", "0.5s", "", "m", "5", "5 m", " 5m", "5m ", "5M", "-5m", "+5m", "1e3s",
        ".5h", "5.h", "1.2.3s", "1h30m", "5min", "٣m", "5m\n", "1,5h",
    ] {
        let (is_read, is_in_schema) = is_taken(&json!({ "main": { "max_duration_ms": time } }));
        assert_eq!(is_read, is_in_schema, "{time:?}");
    }
    for zone in [
        "Europe/Berlin",
        "America/Argentina/Buenos_Aires",
        "UTC",
        "local",
        "Etc/GMT+5",
        "America/Port-au-Prince",
        "GMT0",
    ] {
        assert_eq!(is_taken(&json!({ "time_zone": zone })), (true, true), "{zone}");
    }
    for zone in ["", "Europe Berlin", "/etc/passwd", "../UTC", "Europe//Berlin", "UTC\n"] {
        assert_eq!(is_taken(&json!({ "time_zone": zone })), (false, false), "{zone:?}");
    }
}

#[test]
fn defaults_and_examples_are_valid() {
    let declared = format!(r#"{{"agents": {{"*": {DECLARED}}}}}"#);
    let mut texts = vec![DEFAULTS.to_owned(), PLAN.to_owned(), declared, manual::EXAMPLE.to_owned()];
    texts.extend(keys::all().map(example_of));
    for limit in limits::REGISTRY.iter().copied() {
        let block = BLOCKS.into_iter().rev().find(|block| limit.scopes.contains(&block.scope())).unwrap();
        texts.push(match limit.form {
            Form::Cap => inside(block, limit.key, limit.example),
            Form::Windows => format!(r#"{{"{limit}": {}}}"#, limit.example),
        });
    }
    for text in texts {
        let (_, problems) = read_policy(&text);
        assert_eq!(problems, [], "{text}");
        assert_eq!(objection(&schema::schema(), &serde_json::from_str(&text).unwrap()), None, "{text}");
    }
}

/// Returns the policy with every limit wherever it can stand, each with a cap, and what else is given of each block.
fn every_limit(cap: impl Fn(Block, &Limit) -> Value, more: impl Fn(Block, &[&Limit]) -> Value) -> Map<String, Value> {
    let mut policy = Map::new();
    for block in BLOCKS {
        let limits = limits::REGISTRY.iter().copied().filter(|limit| limit.scopes.contains(&block.scope()));
        let caps: Vec<&Limit> = limits.filter(|limit| limit.form == Form::Cap).collect();
        let mut rules: Map<String, Value> =
            caps.iter().map(|limit| (limit.key.to_owned(), cap(block, limit))).collect();
        rules.extend(more(block, &caps).as_object().cloned().unwrap_or_default());
        let rules = if block == Block::Agents { json!({ "*": rules }) } else { rules.into() };
        policy.insert(block.name().to_owned(), rules);
    }
    for limit in limits::REGISTRY.iter().filter(|limit| limit.form == Form::Windows) {
        policy.insert(limit.key.to_owned(), serde_json::from_str(limit.example).unwrap());
    }
    policy
}

/// What fuzzing plays against: every limit soon reached, with every action.
fn tight_policy() -> Map<String, Value> {
    let actions = |block, caps: &[&Limit]| {
        let number = BLOCKS.iter().position(|it| *it == block).unwrap();
        // By the key: a new limit changes no other's action.
        let of_key = |key: &str| key.bytes().map(usize::from).sum::<usize>();
        let action = |key: &str| json!(ACTIONS[(of_key(key) + number) % ACTIONS.len()].as_str());
        let actions = caps.iter().map(|limit| (limit.key.to_owned(), action(limit.key)));
        json!({ "actions": actions.collect::<Map<_, _>>() })
    };
    every_limit(|_, limit| tight_cap(limit), actions)
}

/// What the gates measure a hook call under: every limit, and none reached.
fn wide_policy() -> Map<String, Value> {
    let more = |block, _: &[&Limit]| match block {
        Block::Main => json!({ "explicit_stop": { "tools": ["Submit"], "marker": "FUSEBOX-STOP:" },
            "models": { "*opus*": { "max_cost_usd": 1000 } } }),
        Block::Session | Block::Agents => json!({ "models": { "*opus*": { "max_cost_usd": 100 } } }),
        _ => json!({}),
    };
    let mut policy = every_limit(wide_cap, more);
    // The gates call Bash.
    let rates = json!([{ "tool": "Bash", "max": 100, "per_ms": 60000, "over": "session" },
        { "tool": "WebSearch", "max": 10, "per_ms": 60000, "over": "user" }]);
    policy.insert("rate_limits".to_owned(), rates);
    // They read a gigabyte of responses.
    policy.insert("adapter_rate_limit".to_owned(), json!({ "max_requests": 100_000, "per_ms": 60000 }));
    policy.insert("time_zone".to_owned(), json!("Europe/Berlin"));
    policy
}

/// Returns a cap that no call of the gates comes near, as high as the limit and the ceilings of subagents' runs allow.
fn wide_cap(block: Block, limit: &Limit) -> Value {
    let wide = match limit.unit {
        Unit::Count => 100_000,
        Unit::Millis => 86_400_000,
        Unit::Usd => 10_000 * PICO,
        Unit::Tokens => 1_000_000_000,
        Unit::Percent => 100,
        Unit::Switch => return json!(true),
    };
    let ceiling = limit.ceiling.filter(|_| block == Block::Agents).map_or(u64::MAX, |(_, most)| most);
    serde_json::from_str(&limit_name::written(limit, wide.min(ceiling).min(limit.range.1))).unwrap()
}

fn tight_cap(limit: &Limit) -> Value {
    match limit.unit {
        Unit::Count => json!(4),
        Unit::Millis => json!(20_000),
        Unit::Usd => json!(1.5),
        Unit::Tokens => json!(50_000),
        Unit::Percent => json!(90),
        Unit::Switch => json!(true),
    }
}

#[test]
fn fuzzing_plays_against_every_limit() {
    let text = serde_json::to_string_pretty(&tight_policy()).unwrap() + "\n";
    assert_eq!(policy(&[(USER, &text)]).1, []);
    check_current("fuzz/policy.json", &text);
}

#[test]
fn the_gates_hold_under_every_limit() {
    let text = serde_json::to_string_pretty(&wide_policy()).unwrap() + "\n";
    assert_eq!(policy(&[(USER, &text)]).1, []);
    check_current("tests/gates/everything.json", &text);
}

#[test]
fn every_key_that_takes_a_value_has_an_effect() {
    for key in keys::all() {
        let (policy, _) = read_policy(&example_of(key));
        let documents = policy.documents.iter().filter(|document| document.layer != Layer::BuiltIn);
        let mut settings = documents.flat_map(|document| &document.settings);
        match (key.takes, key.apply) {
            (Takes::Note(_) | Takes::Block(_) | Takes::Blocks, Apply::Nothing) | (_, Apply::Limit(_) | Apply::Cap) => {}
            (_, Apply::Value(apply)) => {
                let mut values = Resolved::default();
                let said = settings.find(|setting| setting.subject.key == key.name).unwrap();
                apply(&mut values, said, Layer::User);
                assert_ne!(format!("{values:?}"), format!("{:?}", Resolved::default()), "{}", key.name);
            }
            (_, Apply::Nothing) => panic!("`{}` is read and does nothing: its row lacks `apply`", key.name),
        }
    }
}

/// Reads a file as the one that may hold its keys.
fn read_policy(text: &str) -> (Policy, Vec<Problem>) {
    let files = [("locked", MANAGED), ("binding", PROJECT)];
    let file = files.into_iter().find(|(key, _)| text.contains(key)).map_or(USER, |(_, file)| file);
    policy(&[(file, text)])
}

/// Returns a file with the example of a key.
fn example_of(key: &Key) -> String {
    match key.blocks {
        [] => format!(r#"{{"{}": {}}}"#, key.name, key.example),
        blocks => inside(blocks[blocks.len() / 2], key.name, key.example),
    }
}

fn inside(block: Block, key: &str, example: &str) -> String {
    match block {
        Block::Agents => format!(r#"{{"agents": {{"x": {{"{key}": {example}}}}}}}"#),
        block => format!(r#"{{"{}": {{"{key}": {example}}}}}"#, block.name()),
    }
}

#[test]
fn every_key_has_one_meaning() {
    let limits = limits::REGISTRY.iter().flat_map(|it| it.aliases.iter().map(|alias| alias.key).chain([it.key]));
    let mut names: Vec<&str> =
        limits.chain(keys::all().map(|key| key.name)).chain(OF_OTHER_BUILDS.iter().copied()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "a name stands in two rows");
    assert!(keys::all().all(|key| key.doc.ends_with('.')), "docs are sentences");
}

fn user_file() -> LayerFile {
    LayerFile { layer: Layer::User, folder: Folder::Claude, file: "fusebox.json", part: FilePart::Whole }
}

fn samples(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(kind);
    let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    files
}

/// Says what a schema has against a value, as far as our own schema goes: the keywords that it uses.
fn objection(root: &Value, value: &Value) -> Option<String> {
    against(root, root, value)
}

fn against(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return against(root, root.pointer(path.trim_start_matches('#')).unwrap(), value);
    }
    if let Some(options) = schema["anyOf"].as_array() {
        return options.iter().map(|option| against(root, option, value)).min_by_key(Option::is_some).unwrap();
    }
    let parts = schema["allOf"].as_array().into_iter().flatten();
    if let Some(objection) = parts.into_iter().find_map(|part| against(root, part, value)) {
        return Some(objection);
    }
    if !is_kind(schema, value) || !is_in_range(schema, value) {
        return Some(format!("{value} against {schema}"));
    }
    let items = value.as_array().into_iter().flatten();
    if let Some(objection) = items.into_iter().find_map(|item| against(root, &schema["items"], item)) {
        return Some(objection);
    }
    let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = value.as_object().and_then(|it| needed.into_iter().find(|name| !it.contains_key(*name))) {
        return Some(format!("`{missing}` is missing in {value}"));
    }
    let entries = value.as_object().into_iter().flatten();
    entries.into_iter().find_map(|(name, entry)| {
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(known), _) => against(root, known, entry),
            (None, Value::Bool(false)) => Some(format!("no key `{name}` in {schema}")),
            (None, other) => against(root, other, entry),
        }
    })
}

fn is_kind(schema: &Value, value: &Value) -> bool {
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return false;
    }
    let kinds = if schema["type"].is_string() { json!([schema["type"]]) } else { schema["type"].clone() };
    let fits = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    kinds.as_array().is_none_or(|kinds| kinds.iter().any(fits))
}

fn is_in_range(schema: &Value, value: &Value) -> bool {
    let number = value.as_f64();
    let count = value.as_array().map(|items| items.len() as u64);
    let letters = value.as_str().map(|text| text.chars().count() as u64);
    let shorter = letters.is_some_and(|count| schema["minLength"].as_u64().is_some_and(|least| count < least));
    let below = |key: &str| number.is_some_and(|number| schema[key].as_f64().is_some_and(|low| number < low));
    let above = |key: &str| number.is_some_and(|number| schema[key].as_f64().is_some_and(|high| number > high));
    let fewer = |key: &str| count.is_some_and(|count| schema[key].as_u64().is_some_and(|least| count < least));
    let more = |key: &str| count.is_some_and(|count| schema[key].as_u64().is_some_and(|most| count > most));
    let pattern = schema["pattern"].as_str().zip(value.as_str());
    let differs = pattern.is_some_and(|(pattern, text)| !Regex::new(pattern).unwrap().is_match(text));
    !differs && !shorter && !below("minimum") && !above("maximum") && !fewer("minItems") && !more("maxItems")
}
