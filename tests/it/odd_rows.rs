//! Rows of transcripts that are not quite as the client writes them: what reads what is new, what counts again, what replays and
//! what asks who answered a dialog find the same in each.

use std::collections::BTreeSet;
use std::path::Path;

use fusebox::domain::pending_prompt::{AnsweredBy, TranscriptEnd};
use fusebox::replay::rows::{self, RowKind};
use fusebox::transcript::{cursor, dialogs, recall};
use serde_json::{Value, json};

/// A response with one call, with every field that some reader knows.
const RESPONSE: &str = r#"{
        "type": "assistant", "uuid": "u1", "timestamp": "2026-11-20T10:00:00.000Z", "sessionId": "s1", "entrypoint": "cli",
        "requestSessionId": null, "isApiErrorMessage": false, "isVirtual": false, "isUnmetered": false, "isMeta": false,
        "subtype": "x", "prompt": "x", "attachment": null, "hookInfos": [{ "command": "x" }], "origin": { "kind": "x" },
        "turnOrigin": "x", "isCompactSummary": false, "toolUseResult": null, "totalCostUSD": 1, "permissionDecision": null,
        "modelUsage": { "m": { "costUSD": 1 } }, "promptId": "p1",
        "message": {
            "role": "assistant", "id": "m1", "model": "claude-opus-5-5",
            "content": [{ "type": "text", "text": "so" }, { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }],
            "usage": {
                "input_tokens": 1, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "cache_creation": { "ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0 },
                "server_tool_use": { "web_search_requests": 0 }, "speed": "standard", "inference_geo": "us",
                "iterations": [{ "type": "message", "model": "m", "input_tokens": 1, "output_tokens": 5 }]
            }
        }
    }"#;

/// The row with that call's result.
const RESULT: &str = r#"{
        "type": "user", "uuid": "u2", "timestamp": "2026-11-20T10:00:01.000Z", "sessionId": "s1", "promptId": "p1",
        "toolUseResult": { "stdout": "x" }, "permissionDecision": { "source": "user_temporary" }, "isMeta": false,
        "origin": null, "turnOrigin": null, "isCompactSummary": false, "attachment": null,
        "message": {
            "role": "user", "model": "x",
            "content": [
                { "type": "text", "text": "x" },
                { "type": "tool_result", "tool_use_id": "t1", "is_error": false, "content": [{ "type": "text", "text": "x" }] }
            ]
        }
    }"#;

/// What a reader found; `None` of what it does not look for.
#[derive(Debug)]
struct Found {
    responses: Option<BTreeSet<String>>,
    /// Whether the call `t1` has ended.
    call: Option<bool>,
}

/// Returns what each reader finds in a transcript, by its name; of calls, whether `t1` is among them.
fn found(lines: &[Vec<u8>; 2]) -> Vec<(&'static str, Found)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    fusebox::platform::files::write_new(&path, 0o600, [lines.join(&b'\n'), b"\n".to_vec()].concat()).unwrap();
    let chunk = cursor::read_from(&path, 0, None).unwrap();
    let new = chunk.responses.into_iter().map(|of| of.id).chain(chunk.uncounted.into_keys());
    let memory = recall::recall(&path, None, 0).unwrap();
    let after = TranscriptEnd { path: path.to_string_lossy().into_owned(), offset: 0, file: 0 };
    let answers = dialogs::answers(&after, &["t1"]).unwrap();
    let is_call = |id: &String| id == "t1";
    vec![
        ("new", Found { responses: Some(new.filter(|id| !id.is_empty()).collect()), call: None }),
        (
            "again",
            Found {
                responses: Some(memory.responses.into_iter().collect()),
                call: Some(memory.calls.iter().any(is_call)),
            },
        ),
        ("replay", replayed(&path)),
        ("dialogs", Found { responses: None, call: Some(answers.iter().any(|of| of.by != AnsweredBy::Hook)) }),
    ]
}

fn replayed(path: &Path) -> Found {
    let (mut responses, mut call) = (BTreeSet::new(), false);
    for row in rows::read(path).unwrap().rows {
        match row.what {
            RowKind::Response(response) => responses.extend(Some(response.id).filter(|id| !id.is_empty())),
            RowKind::Results(results) => call |= results.results.iter().any(|result| result.id == "t1"),
            RowKind::Prompt(_) => {}
        }
    }
    Found { responses: Some(responses), call: Some(call) }
}

/// Returns where in a row something stands, as JSON pointers.
fn places(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, field)| (format!("{at}/{name}"), field)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(number, of)| (format!("{at}/{number}"), of)).collect(),
        _ => Vec::new(),
    };
    below.into_iter().flat_map(|(at, of)| [at.clone()].into_iter().chain(places(of, &at))).collect()
}

/// What is put into a field, as JSON: each shape, and texts that are no UTF-8.
const ODD: [&[u8]; 10] =
    [b"null", b"true", b"-7", b"1e99", b"\"x\"", b"[]", b"[7,{}]", b"{}", b"\"\\ud83d cut\"", b"\"\xff\xfe\""];

/// Returns a row with something else in one place.
fn odd(row: &Value, place: &str, instead: &[u8]) -> Vec<u8> {
    let mut row = row.clone();
    *row.pointer_mut(place).unwrap() = json!("INSTEAD");
    let text = serde_json::to_vec(&row).unwrap();
    let at = text.windows(9).position(|bytes| bytes == b"\"INSTEAD\"").unwrap();
    [&text[..at], instead, &text[at + 9..]].concat()
}

/// The fields by which a client's own row is known for one. Replay takes it for a turn that ends all the same.
const MADE_UP: [&str; 2] = ["/isApiErrorMessage", "/isVirtual"];

/// Returns what makes one of the two rows odd, with both.
fn cases(is_of: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, [Vec<u8>; 2])> {
    let both = [RESPONSE, RESULT].map(|row| serde_json::from_str::<Value>(row).unwrap());
    let rows = [0, 1].into_iter().flat_map({
        let both = both.clone();
        move |row| places(&both[row], "").into_iter().map(move |place| (row, place))
    });
    let rows: Vec<_> = rows.filter(|(_, place)| is_of(place)).collect();
    rows.into_iter().flat_map(move |(row, place)| {
        let both = both.clone();
        ODD.map(|instead| {
            let mut lines = both.each_ref().map(|row| serde_json::to_vec(row).unwrap());
            lines[row] = odd(&both[row], &place, instead);
            (format!("{} in row {row}: {}", place, String::from_utf8_lossy(instead)), lines)
        })
    })
}

#[test]
fn an_odd_row_is_the_same_to_every_reader() {
    let mut differ = Vec::new();
    for (what, lines) in cases(|place| !MADE_UP.contains(&place)) {
        let found = found(&lines);
        let responses: BTreeSet<_> = found.iter().filter_map(|(_, of)| of.responses.as_ref()).collect();
        let calls: BTreeSet<_> = found.iter().filter_map(|(_, of)| of.call).collect();
        if responses.len() > 1 || calls.len() > 1 {
            differ.push(format!("{what}: {found:?}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n  {}", differ.len(), differ.join("\n  "));
}

#[test]
fn what_does_not_matter_hides_neither_a_response_nor_a_call() {
    let matters =
        ["/type", "/message", "/message/id", "/message/model", "/message/content", "/message/usage", "/timestamp"];
    let is_of = |place: &str| {
        let is_call = place.starts_with("/message/content/1") || MADE_UP.contains(&place);
        // Where a decision came from is all that one of them looks for.
        let is_decision = place.starts_with("/permissionDecision") || place == "/attachment";
        !matters.contains(&place) && !is_call && !is_decision
    };
    for (what, lines) in cases(is_of) {
        for (reader, Found { responses, call }) in found(&lines) {
            assert!(responses.is_none_or(|found| found.iter().eq(["m1"])), "{reader}: {what}");
            assert!(call != Some(false), "{reader}: {what}");
        }
    }
}

/// One such row could use up what a person has for all their projects: nothing that a model writes is so long.
#[test]
fn a_count_that_no_response_has_is_charged_at_an_estimate() {
    let response: Value = serde_json::from_str(RESPONSE).unwrap();
    for (tokens, is_believed) in [(1_000_000_u64, true), (20_000_001, false), (1_000_000_000_000, false)] {
        let mut row = response.clone();
        row["message"]["usage"]["output_tokens"] = json!(tokens);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fusebox::platform::files::write_new(&path, 0o600, format!("{row}\n").into_bytes()).unwrap();
        let found = format!("{:?}", cursor::read_from(&path, 0, None).unwrap().responses);
        assert_eq!(found.contains(&tokens.to_string()), is_believed, "{tokens}: {found}");
    }
}
