//! The JSON schema of `fusebox.json`. By hand: `schemars` reads types, and the keys and limits are rows of tables.

use serde_json::{Map, Value, json};

use crate::config::key::{Key, Takes};
use crate::config::keys::{self, OF_OTHER_BUILDS};
use crate::config::limit_name;
use crate::config::limit_name::LimitName;
use crate::config::per_limit::Each;
use crate::config::place::{BLOCKS, Block};
use crate::config::rate_windows;

/// Returns the schema.
pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Fusebox configuration",
        "description": "Limits on turns, requests, time, cost and tokens of Claude Code agents.",
        "type": "object",
        "additionalProperties": false,
        "properties": top(),
        "definitions": definitions(),
    })
}

/// Returns the schema as the file that ships.
pub fn text() -> String {
    format!("{:#}\n", schema())
}

fn definitions() -> Map<String, Value> {
    let (top, blocks): (Vec<&Key>, Vec<&Key>) = keys::all().partition(|key| key.blocks.is_empty());
    let each = blocks.into_iter().chain(top).filter_map(|key| match key.takes {
        Takes::PerLimit(each) | Takes::OneOrPerLimit(_, each) => Some((each.name.to_owned(), per_limit(each))),
        _ => None,
    });
    BLOCKS.into_iter().map(|it| (it.name().to_owned(), block(it))).chain(each).collect()
}

fn top() -> Map<String, Value> {
    let mut all = properties(None);
    all.extend(
        limit_name::windows().map(|it| (it.name.to_owned(), described(rate_windows::schema(it.limit), it.limit.doc))),
    );
    all
}

fn block(block: Block) -> Value {
    let limits = limit_name::names().filter(|named| named.limit.scopes.contains(&block.scope()));
    let mut all: Map<String, Value> = limits.map(|named| (named.name.to_owned(), cap(named))).collect();
    all.extend(properties(Some(block)));
    json!({ "type": "object", "additionalProperties": false, "properties": all })
}

fn properties(block: Option<Block>) -> Map<String, Value> {
    let known = keys::at(block).map(|key| (key.name.to_owned(), described(takes(key, block), key.doc)));
    let of_others = OF_OTHER_BUILDS
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "description": "Known, but not enforced by this version." })));
    known.chain(of_others).collect()
}

fn takes(key: &Key, block: Option<Block>) -> Value {
    match &key.takes {
        Takes::One(value_type) | Takes::Keys(value_type) | Takes::Note(value_type) => value_type.schema(),
        Takes::PerLimit(each) => reference(each.name),
        Takes::OneOrPerLimit(value_type, each) => json!({ "anyOf": [value_type.schema(), reference(each.name)] }),
        Takes::Block(block) => reference(block.name()),
        Takes::CostOf(_, span) => limit_name::on_cost_of(*span).map_or(Value::Null, cap),
        Takes::Blocks => json!({ "type": "object", "additionalProperties": reference(Block::Agents.name()) }),
        Takes::Models => block.map_or(Value::Null, of_models),
    }
}

fn of_models(block: Block) -> Value {
    let limits = limit_name::names().filter(|named| named.is_of_models(block.scope()));
    let caps: Map<String, Value> = limits.map(|named| (named.name.to_owned(), cap(named))).collect();
    let one = json!({ "type": "object", "additionalProperties": false, "properties": caps });
    json!({ "type": "object", "additionalProperties": one })
}

fn per_limit(each: Each) -> Value {
    let limits: Map<String, Value> = each.names().map(|named| (named.name.to_owned(), (each.schema)(named))).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": limits })
}

fn cap(named: LimitName) -> Value {
    let mut schema = named.schema();
    schema["type"] = match schema["type"].take() {
        Value::Array(kinds) => kinds.into_iter().chain([json!("null")]).collect(),
        kind => json!([kind, "null"]),
    };
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

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}
