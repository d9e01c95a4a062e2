//! What a run owes and how it may end, beside its limits: checkpoints, the judging command, the explicit stop, discipline.

use serde_json::{Map, Value, json};

use crate::config::setting::{Discipline, Term, typed};
use crate::config::shape::{Field, Shape};
use crate::engine::policy::Layer;
use crate::engine::rules::{Checkpoints, Completion, ExplicitStop};

/// How often an agent is sent back where nobody says.
const RETRIES: u32 = 1;
/// What a command may take where nobody says: less than the client gives the hook.
const TIMEOUT_MS: u64 = 60_000;
/// The longest time in milliseconds: a year.
const LONGEST_MS: u64 = 31_536_000_000;
const RETRIES_TAKE: Shape = Shape::Whole(0, 10);

/// What `checkpoints` takes.
pub const CHECKPOINTS: Shape = Shape::Either(&[
    Shape::Object(&[
        Field::needed("file", Shape::Filled),
        Field::needed("required", Shape::Filleds),
        Field::optional("max_gap_ms", Shape::Whole(1, LONGEST_MS)),
        Field::optional("retries", RETRIES_TAKE),
    ]),
    Shape::Null,
]);

/// What `completion` takes.
pub const COMPLETION: Shape = Shape::Either(&[
    Shape::Filled,
    Shape::Object(&[
        Field::needed("command", Shape::Filled),
        Field::optional("timeout_ms", Shape::Whole(1, 600_000)),
        Field::optional("retries", RETRIES_TAKE),
    ]),
    Shape::Null,
]);

/// What `explicit_stop` takes.
pub const EXPLICIT_STOP: Shape = Shape::Either(&[
    Shape::Filled,
    Shape::Object(&[Field::needed("tools", Shape::Filleds), Field::optional("marker", Shape::Filled)]),
    Shape::Object(&[Field::needed("marker", Shape::Filled)]),
    Shape::Null,
]);

/// What `discipline` takes.
pub const DISCIPLINE: Shape = Shape::Either(&[Shape::Flag, Shape::Filled, Shape::Null]);

/// Reads `checkpoints`. Whose they are is known where they are resolved.
pub fn checkpoints(value: &Value) -> Option<Term> {
    let Some(fields) = fields(value)? else { return Some(Term::Checkpoints(None)) };
    Some(Term::Checkpoints(Some(Checkpoints {
        file: fields.get("file").and_then(typed)?,
        required: fields.get("required").and_then(typed)?,
        max_gap_ms: fields.get("max_gap_ms").and_then(typed),
        retries: retries(fields),
        layer: Layer::BuiltIn,
    })))
}

/// Reads `completion`.
pub fn completion(value: &Value) -> Option<Term> {
    if let Value::String(command) = value {
        return Some(Term::Completion(Some(judge(command, TIMEOUT_MS, RETRIES))));
    }
    let Some(fields) = fields(value)? else { return Some(Term::Completion(None)) };
    let command = fields.get("command")?.as_str()?;
    let timeout_ms = fields.get("timeout_ms").and_then(typed).unwrap_or(TIMEOUT_MS);
    Some(Term::Completion(Some(judge(command, timeout_ms, retries(fields)))))
}

fn judge(command: &str, timeout_ms: u64, retries: u32) -> Completion {
    Completion { command: command.to_owned(), timeout_ms, retries, layer: Layer::BuiltIn }
}

/// Reads `explicit_stop`.
pub fn explicit_stop(value: &Value) -> Option<Term> {
    let layer = Layer::BuiltIn;
    if let Value::String(tool) = value {
        return Some(Term::ExplicitStop(Some(ExplicitStop { tools: vec![tool.clone()], marker: None, layer })));
    }
    let Some(fields) = fields(value)? else { return Some(Term::ExplicitStop(None)) };
    let tools = fields.get("tools").and_then(typed).unwrap_or_default();
    Some(Term::ExplicitStop(Some(ExplicitStop { tools, marker: fields.get("marker").and_then(typed), layer })))
}

/// Reads `discipline`.
pub fn discipline(value: &Value) -> Option<Term> {
    Some(Term::Discipline(match value {
        Value::Bool(true) => Discipline::Standard,
        Value::String(text) => Discipline::Own(text.clone()),
        _ => Discipline::Off,
    }))
}

/// Writes `checkpoints` as configuration would.
pub fn written_checkpoints(it: &Checkpoints) -> Value {
    let mut value = json!({ "file": it.file, "required": it.required, "retries": it.retries });
    if let Some(gap) = it.max_gap_ms {
        value["max_gap_ms"] = json!(gap);
    }
    value
}

/// Writes `completion` as configuration would.
pub fn written_completion(it: &Completion) -> Value {
    json!({ "command": it.command, "timeout_ms": it.timeout_ms, "retries": it.retries })
}

/// Writes `explicit_stop` as configuration would.
pub fn written_stop(it: &ExplicitStop) -> Value {
    let mut value = json!({ "tools": it.tools });
    if let Some(marker) = &it.marker {
        value["marker"] = json!(marker);
    }
    value
}

/// Returns the fields of an object: nothing for another value, `Some(None)` for `null`.
fn fields(value: &Value) -> Option<Option<&Map<String, Value>>> {
    if value.is_null() { Some(None) } else { value.as_object().map(Some) }
}

fn retries(fields: &Map<String, Value>) -> u32 {
    fields.get("retries").and_then(typed).unwrap_or(RETRIES)
}
