//! Whether a turn is over by what a transcript says last: no hook tells that a person has left it with Esc.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::domain::rfc3339;
use crate::transcript::open;

/// How much of a transcript's end is looked at, in bytes.
const REACH: u64 = 64 * 1024;
/// How the row begins that the client writes where a person has left a turn.
const INTERRUPTED: &str = "[Request interrupted by user";
/// How the prompts begin as which the client writes its own commands down.
const COMMANDS: [&str; 2] = ["<command-", "<local-command-"];
/// Reasons by which a response ends its turn.
const LAST: [&str; 3] = ["end_turn", "stop_sequence", "refusal"];

/// What the last message of a transcript says of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEnd {
    /// It goes on.
    No,
    /// The model is done, or the API has failed.
    Done,
    /// A person has left it, at this moment in milliseconds since 1970.
    Left(i64),
}

/// Whether the last message of a transcript ends its turn: a person has left it, the API has failed, or the model is done.
pub fn is_over(path: &Path) -> bool {
    last(path).is_some_and(|end| end != TurnEnd::No)
}

/// Whether a person has left the last turn of a transcript since some moment, in milliseconds since 1970.
pub fn is_left_since(path: &Path, since_ms: i64) -> bool {
    matches!(last(path), Some(TurnEnd::Left(at_ms)) if at_ms >= since_ms)
}

fn last(path: &Path) -> Option<TurnEnd> {
    let (mut file, length) = open(path).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(REACH))).ok()?;
    let mut bytes = Vec::new();
    file.take(REACH).read_to_end(&mut bytes).ok()?;
    let rows = bytes.split(|byte| *byte == b'\n').rev().filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut rows = rows;
    rows.find_map(|row| end_in(&row))
}

/// Returns what a row says of its turn; nothing where it is no message of the conversation.
fn end_in(row: &Value) -> Option<TurnEnd> {
    let message = row.get("message")?;
    match row.get("type")?.as_str()? {
        "assistant" => {
            let failed = row.get("isApiErrorMessage").and_then(Value::as_bool).unwrap_or(false);
            let reason = message.get("stop_reason").and_then(Value::as_str).unwrap_or_default();
            Some(if failed || LAST.contains(&reason) { TurnEnd::Done } else { TurnEnd::No })
        }
        "user" => {
            let is_meta = row.get("isMeta").and_then(Value::as_bool).unwrap_or(false);
            let text = text_of(message.get("content")?);
            // Commands of the client are written as prompts in tags, and begin no turn.
            let is_command = text.is_some_and(|text| COMMANDS.iter().any(|tag| text.starts_with(tag)));
            let is_left = text.is_some_and(|text| text.starts_with(INTERRUPTED));
            let at_ms = || row.get("timestamp").and_then(Value::as_str).and_then(rfc3339::parse).unwrap_or_default();
            (!is_meta && !is_command).then(|| if is_left { TurnEnd::Left(at_ms()) } else { TurnEnd::No })
        }
        _ => None,
    }
}

/// Returns the text of a message that begins with one.
fn text_of(content: &Value) -> Option<&str> {
    content.as_str().or_else(|| content.get(0)?.get("text")?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(content: &Value) -> Value {
        json!({"type": "user", "message": {"content": content}})
    }

    fn assistant(reason: &Value) -> Value {
        json!({"type": "assistant", "message": {"stop_reason": reason, "content": []}})
    }

    #[test]
    fn the_last_message_tells() {
        let interrupted = user(&json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]));
        let result = user(&json!([{"type": "tool_result", "content": "[Request interrupted by user"}]));
        let command = user(&json!("<command-name>/model</command-name>"));
        let failed = json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": []}});
        let system = json!({"type": "system", "subtype": "turn_duration"});
        for (rows, end) in [
            (vec![user(&json!("go"))], Some(TurnEnd::No)),
            (vec![assistant(&json!("tool_use"))], Some(TurnEnd::No)),
            (vec![assistant(&json!(null))], Some(TurnEnd::No)),
            (vec![assistant(&json!("end_turn"))], Some(TurnEnd::Done)),
            (vec![assistant(&json!("end_turn")), system], Some(TurnEnd::Done)),
            (vec![assistant(&json!("end_turn")), user(&json!("more"))], Some(TurnEnd::No)),
            (vec![interrupted.clone()], Some(TurnEnd::Left(0))),
            (vec![interrupted.clone(), command], Some(TurnEnd::Left(0))),
            (vec![interrupted, user(&json!("more"))], Some(TurnEnd::No)),
            (vec![result], Some(TurnEnd::No)),
            (vec![failed], Some(TurnEnd::Done)),
            (vec![], None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.jsonl");
            let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
            crate::platform::files::write_new(&path, 0o600, text).unwrap();
            assert_eq!(last(&path), end, "{rows:?}");
        }
    }
}
