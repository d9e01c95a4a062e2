//! The JSON schema of `fusebox.json`, made from the tables of keys and limits.

use serde_json::{Map, Value, json};

use crate::config::keys::{self, Each, FUTURE, Key, Level, Takes};
use crate::config::setting::Place;
use crate::config::shape::{self, Named};
use crate::engine::policy::Scope;

/// Returns the schema.
pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Fusebox configuration",
        "description": "Limits on turns, requests, time, cost and tokens of Claude Code agents.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties(Level::Top),
        "definitions": { "session": block(Scope::Session), "run": block(Scope::Run) },
    })
}

/// Returns the schema as the file that ships.
pub fn text() -> String {
    format!("{:#}\n", schema())
}

fn block(scope: Scope) -> Value {
    let limits = shape::names().filter(|named| named.limit.scopes.contains(&scope));
    let mut all: Map<String, Value> = limits.map(|named| (named.name.to_owned(), cap(named))).collect();
    all.extend(properties(Level::Block));
    json!({ "type": "object", "additionalProperties": false, "properties": all })
}

fn properties(level: Level) -> Map<String, Value> {
    let known = keys::at(level).map(|key| (key.name.to_owned(), described(takes(key), key.doc)));
    let future = FUTURE
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "description": "Known, but not enforced by this version." })));
    known.chain(future).collect()
}

fn takes(key: &Key) -> Value {
    match &key.takes {
        Takes::One(shape, _) | Takes::Note(shape) => shape.schema(),
        Takes::PerLimit(each) => per_limit(*each),
        Takes::OneOrPerLimit(shape, _, each) => json!({ "anyOf": [shape.schema(), per_limit(*each)] }),
        Takes::Block(place) => reference(if *place == Place::Session { Scope::Session } else { Scope::Run }),
        Takes::Blocks => json!({ "type": "object", "additionalProperties": reference(Scope::Run) }),
    }
}

fn per_limit(each: Each) -> Value {
    let limits: Map<String, Value> = shape::names().map(|named| (named.name.to_owned(), each.schema(named))).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": limits })
}

fn cap(named: Named) -> Value {
    let mut schema = named.schema();
    schema["type"] = json!([schema["type"], "null"]);
    let doc = if named.name == named.limit.key {
        named.limit.doc.to_owned()
    } else {
        format!("`{}` in {}.", named.limit.key, named.unit())
    };
    described(schema, &doc)
}

/// Adds a description. A reference stands in `allOf`, since draft 7 ignores what stands beside it.
fn described(schema: Value, doc: &str) -> Value {
    let mut schema = if schema.get("$ref").is_some() { json!({ "allOf": [schema] }) } else { schema };
    schema["description"] = json!(doc);
    schema
}

fn reference(scope: Scope) -> Value {
    json!({ "$ref": format!("#/definitions/{}", scope.as_str()) })
}
