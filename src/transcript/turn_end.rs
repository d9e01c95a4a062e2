//! Whether a turn is over by what a transcript says last: no hook tells that a person has left it with Esc.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::transcript::open;
use crate::transcript::row::{self, Content, INTERRUPTED, Row};

/// How much of a transcript's end is looked at, in bytes.
const REACH: u64 = 64 * 1024;
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
    bytes.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let mut replaced = Vec::new();
        row::parse(line, &mut replaced).ok().and_then(|row| end_in(&row))
    })
}

/// Returns what a row says of its turn; nothing where it is no message of the conversation.
fn end_in(row: &Row<Content>) -> Option<TurnEnd> {
    let message = row.message()?;
    match &*row.kind.0 {
        "assistant" => {
            let is_last = row.is_of_a_failure() || LAST.contains(&&*message.stop_reason.0);
            Some(if is_last { TurnEnd::Done } else { TurnEnd::No })
        }
        "user" => {
            let text = row.first_text().unwrap_or_default();
            // Commands of the client are written as prompts in tags, and begin no turn.
            let is_command = COMMANDS.iter().any(|tag| text.starts_with(tag));
            let is_left = text.starts_with(INTERRUPTED);
            let end = if is_left { TurnEnd::Left(row.at_ms().unwrap_or_default()) } else { TurnEnd::No };
            (!row.is_meta.0 && !is_command).then_some(end)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
