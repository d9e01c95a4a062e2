//! Transcripts in every shape, and what is read of them.

use crate::platform::run_command::Program;
use crate::transcript::cursor::*;

/// An assistant row of the response `id` with these tokens.
fn row(id: &str, output: i64) -> String {
    let (time, usage) = ("2026-11-20T10:00:00.000Z", format!(r#"{{"input_tokens":1,"output_tokens":{output}}}"#));
    format!(r#"{{"message":{{"id":"{id}","model":"m","usage":{usage}}},"type":"assistant","timestamp":"{time}"}}"#)
        + "\n"
}

/// Reads a file with `bytes`.
fn read(bytes: impl AsRef<[u8]>, offset: u64, upto: Option<u64>) -> Chunk {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    crate::platform::files::write_new(&path, 0o600, bytes).unwrap();
    read_from(&path, offset, upto).unwrap()
}

/// Writes a chunk in one line: the responses' ids and outputs, and what is suspicious.
fn shown(chunk: &Chunk) -> String {
    let responses = chunk.responses.iter().map(|response| format!("{}:{}", response.id, response.usage.output));
    let suspicious = chunk.suspicious.iter().map(|sentence| sentence.replace(" (in t.jsonl)", ""));
    responses.chain(suspicious).collect::<Vec<_>>().join(" ")
}

fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    let bytes = bytes.as_ref();
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(500)]);
    assert_eq!(shown(&read(bytes, 0, None)), expected, "{start}");
}

#[test]
fn rows_of_one_response_are_one_response() {
    let (a, b) = (row("a", 5), row("b", 7));
    check("", "");
    check(&a, "a:5");
    check(a.repeat(3) + &b, "a:5 b:7");
    // one whose usage only looks the same, since another object has a field of that name
    let input = r#"{"message":{"id":"a","content":[{"input":{"usage":{"input_tokens":1,"output_tokens":5}}}],"model""#;
    let other = row("a", 9).replace(r#"{"message":{"id":"a","model""#, input);
    check(row("a", 5) + &other, "a:9");
    check(other.replace(":9", ":5") + &other, "a:9");
    // one that is no response, then the same as a response
    let unmetered = a.replace(r#""type""#, r#""isUnmetered":true,"type""#);
    check(format!("{unmetered}{a}"), "a:5");
    assert_eq!(read(unmetered.repeat(2), 0, None).uncounted.len(), 1);
    // the same as a row that does not count, or cannot be read, after one of the same response
    let more = row("a", 9);
    check(row("a", 5) + &unmetered.replace(":5", ":9") + &more, "a:9");
    let torn = row("a", 5) + &more.replace(r#""type""#, r#""torn""type""#) + &more;
    assert!(shown(&read(torn, 0, None)).starts_with("a:9 a response's row cannot be read: "));
    // apart, and in the order of the first row
    check(format!("{a}{b}{a}"), "a:5 b:7");
    check(row("a", 1) + &b + &a, "a:5 b:7");
    let shrank = "response `a` has a token count that shrank: the larger one holds";
    check(a.clone() + &row("a", 3), &format!("a:5 {shrank}"));
    check(format!("{a}{b}") + &row("a", 3), &format!("a:5 b:7 {shrank}"));
}

#[test]
fn what_an_agent_hands_to_a_tool_hides_no_response() {
    let b = row("b", 7);
    for input in [
        r#"{"message":{"role":"user","content":"hello"}}"#,
        r#"{"message":{"content":"<task-notification>"}}"#,
        r#"{"modelUsage":{},"type":"cost-state","totalCostUSD":0}"#,
    ] {
        let call = row("a", 5).replace(r#""usage""#, &format!(r#""content":[{{"input":{input}}}],"usage""#));
        let chunk = read(call + &b, 0, None);
        let seen = (chunk.client_cost, chunk.notification);
        assert_eq!((shown(&chunk).as_str(), seen), ("a:5 b:7", (None, false)), "{input}");
    }
}

#[test]
fn doubts_are_said_and_not_without_end() {
    check(row("a", -5), "a:0 response `a` has a token count that cannot be: it is ignored");
    check(row("", 5), "a response's row cannot be read: usage without a `message.id`");
    let many: String = (0..100).map(|number| row(&number.to_string(), -1)).collect();
    assert_eq!(read(many, 0, None).suspicious.len(), MOST_SUSPICIOUS);
    assert!(read(row("a", -1), 0, None).suspicious[0].ends_with(" (in t.jsonl)"));
}

#[test]
fn broken_lines_harm_no_other() {
    let (a, b) = (row("a", 5), row("b", 7));
    let broken = "a:5 b:7 a response's row cannot be read: ";
    for junk in ["\n\n", "\0\0\0\n", "{\n", "\"usage\":\n", "\r\n"] {
        check(format!("{a}{junk}{b}"), "a:5 b:7");
    }
    // invalid UTF-8 in what is not read, and in what is
    check([a.as_bytes(), b"{\"x\":\"\xff\xfe\"}\n", b.as_bytes()].concat(), "a:5 b:7");
    let bad = [b"{\"message\":{\"id\":\"\xff\"", &row("c", 1).as_bytes()[20..]].concat();
    check([a.as_bytes(), &bad, b.as_bytes()].concat(), "a:5 \u{fffd}:1 b:7");
    // a row cut in the middle and continued by the next
    let cut = &row("c", 1)[..60];
    check(format!("{a}{cut}{b}{b}"), &format!("{broken}expected `:` at line 1 column 63"));
    // nested without end, in what is not read and in what is
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    check(a.replace(r#""type""#, &format!(r#""deep":{deep},"type""#)) + &b, "a:5 b:7");
    let deep = r#"{"iterations":["#.repeat(1_000) + &"]}".repeat(1_000);
    let nested = row("c", 1).replace(r#"{"input_tokens":1,"output_tokens":1}"#, &deep);
    check(format!("{a}{nested}{b}"), &format!("{broken}recursion limit exceeded at line 1 column 986"));
}

#[test]
fn a_half_written_line_is_left_for_later() {
    let (a, b) = (row("a", 5), row("b", 7));
    let whole = format!("{a}{b}");
    for cut in [1, 20, b.len() - 1] {
        let chunk = read(&whole[..a.len() + cut], 0, None);
        assert_eq!((shown(&chunk).as_str(), chunk.offset), ("a:5", a.len() as u64));
        let chunk = read(&whole, chunk.offset, None);
        assert_eq!((shown(&chunk).as_str(), chunk.offset), ("b:7", whole.len() as u64));
    }
    for (upto, seen, offset) in [(0, "", 0), (whole.len() - 1, "a:5", a.len()), (usize::MAX, "a:5 b:7", whole.len())] {
        let chunk = read(&whole, 0, Some(upto as u64));
        assert_eq!((shown(&chunk).as_str(), chunk.offset), (seen, offset as u64));
    }
}

#[test]
fn a_file_that_is_not_the_one_of_the_offset_is_read_again() {
    let again = "a transcript was rewritten, and is read again from its start";
    let a = row("a", 5);
    for (offset, expected) in [
        (a.len() as u64, String::new()),
        (a.len() as u64 + 1, format!("a:5 {again}")),
        (10, format!("a:5 {again}")),
        (u64::MAX, format!("a:5 {again}")),
    ] {
        let chunk = read(&a, offset, None);
        assert_eq!((shown(&chunk), chunk.offset), (expected, a.len() as u64), "{offset}");
    }
}

#[test]
fn what_is_no_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(read_from(folder.path(), 0, None).is_err());
    assert!(read_from(&folder.path().join("missing.jsonl"), 0, None).is_err());
    // Windows has no pipes in folders; `file_info` knows the names that they have there.
    if cfg!(unix) {
        let pipe = folder.path().join("pipe.jsonl");
        let made = Program::new("mkfifo").args([&pipe]).answer("").unwrap();
        assert!(made.status.success());
        assert!(read_from(&pipe, 0, None).is_err());
    }
}

#[test]
fn the_clients_total_and_notifications_are_seen() {
    let total = |usd: &str| format!("{{\"type\":\"cost-state\",\"totalCostUSD\":{usd},\"modelUsage\":{{}}}}\n");
    for (text, cost) in [
        (total("0.5"), Some(0.5)),
        (total("0.5") + &total("0.75"), Some(0.75)),
        (total("0.5") + &total("\"x\""), Some(0.5)),
        (r#"{"type":"user","totalCostUSD":9,"x":"cost-state","modelUsage":{}}"#.to_owned() + "\n", None),
    ] {
        assert_eq!(read(&text, 0, None).client_cost, cost.map(Amount::from_usd), "{text}");
    }
    for (row, notification) in [
        (r#"{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>"}}"#, true),
        (r#"{"type":"user","message":{"content":"x"},"origin":{"kind":"task-notification"}}"#, true),
        (r#"{"type":"user","message":{"content":"what is a <task-notification>?"}}"#, false),
        (r#"{"type":"user","message":{"content":[{"text":"<task-notification>"}]}}"#, false),
        (r#"{"type":"assistant","message":{"content":"<task-notification>"}}"#, false),
    ] {
        assert_eq!(read(format!("{row}\n"), 0, None).notification, notification, "{row}");
    }
}

/// Reads a file in as many goes as it takes, each within the same; returns the responses of each go.
fn read_in_goes(text: &str, allowed: Allowance) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    crate::platform::files::write_new(&path, 0o600, text).unwrap();
    let (mut at, mut goes) = (Position::default(), Vec::new());
    loop {
        let chunk = read_within(&mut allowed.clone(), &mut Vec::new(), &path, at, None).unwrap();
        goes.push(chunk.responses.into_iter().map(|response| response.id).collect());
        at = Position { offset: chunk.offset, inside: chunk.inside };
        if chunk.left == 0 {
            assert_eq!(at.offset, text.len() as u64);
            return goes;
        }
    }
}

#[test]
fn what_is_too_much_for_one_go_is_left_for_the_next_and_nothing_is_lost() {
    let ids: Vec<String> = (0..5_000).map(|at| format!("m{at}")).collect();
    let text: String = ids.iter().map(|id| row(id, 5)).collect();
    for allowed in [
        Allowance { responses: 1, ..Allowance::ALL },
        Allowance { responses: 3_000, ..Allowance::ALL },
        Allowance { bytes: 200 << 10, ..Allowance::ALL },
    ] {
        let goes = read_in_goes(&text, allowed);
        assert!((2..10).contains(&goes.len()), "{allowed:?}: {}", goes.len());
        assert_eq!(goes.concat(), ids, "{allowed:?}");
    }
    assert_eq!(read_in_goes(&text, Allowance::ALL), [ids]);
}

#[test]
fn a_line_that_is_too_much_for_one_go_is_passed_over_in_several() {
    let text = format!("{}{}\n{}", row("a", 5), "x".repeat(40 << 20), row("b", 7));
    let goes = read_in_goes(&text, Allowance { bytes: 18 << 20, ..Allowance::ALL });
    assert_eq!((goes.len(), goes.concat().join(" ").as_str()), (3, "a b"));
    let unended = &text[..text.len() - row("b", 7).len() - 1];
    assert_eq!(read_in_goes(unended, Allowance::ALL).concat(), ["a"]);
}

#[test]
fn a_summary_is_a_copy_where_it_begins_a_file_or_stands_before_a_copy() {
    let summary = |uuid: &str| {
        let message = r#""message":{"role":"user","content":"so far"}"#;
        format!(r#"{{"type":"user",{message},"isCompactSummary":true,"uuid":"{uuid}"}}"#) + "\n"
    };
    let copy = |id: &str| row(id, 5).replace(r#""type""#, r#""requestSessionId":"origin","type""#);
    let whose = |bytes: String, offset: usize| -> Vec<Option<String>> {
        let chunk = read(bytes, offset as u64, None);
        chunk.responses.into_iter().filter(|of| of.summary.is_some()).map(|of| of.billed_by).collect()
    };
    let origin = || Some("origin".to_owned());
    // A fork's own, behind what it has copied.
    assert_eq!(whose(copy("a") + &summary("u"), 0), [None]);
    // What a fork of a compacted conversation begins with, and its own.
    assert_eq!(whose(summary("u") + &copy("a") + &summary("v"), 0), [origin(), None]);
    assert_eq!(whose(summary("u") + &row("a", 5) + &summary("v"), 0), [Some(String::new()), None]);
    // One that is read by itself.
    assert_eq!(whose(row("a", 5) + &summary("u"), row("a", 5).len()), [None]);
}

#[test]
fn the_clients_totals_tell_who_has_compacted() {
    let total = |opus: u32, fable: u32| {
        let models = format!(r#"{{"opus":{{"costUSD":{opus}}},"fable":{{"costUSD":{fable}}}}}"#);
        format!(r#"{{"type":"cost-state","totalCostUSD":{},"modelUsage":{models}}}"#, opus + fable) + "\n"
    };
    let summary = r#"{"type":"user","message":{"role":"user","content":"so far"},"isCompactSummary":true,"uuid":"u"}"#;
    let summary = format!("{summary}\n");
    let told = |bytes: String| {
        let of = read(bytes, 0, None).responses.pop().unwrap();
        (of.summary.unwrap().is_by_another_client, of.model)
    };
    assert_eq!(told(row("a", 5) + &summary + &total(2, 0)), (false, String::new()));
    assert_eq!(told(row("a", 5) + &total(2, 0) + &summary), (true, String::new()));
    assert_eq!(told(row("a", 5) + &total(2, 0) + &summary + &total(2, 1)), (true, "fable".to_owned()));
}
