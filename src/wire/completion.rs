//! What is said at the end of an agent's work: by its last message, by a line of a tool's result, by a command that checks it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::event::{Event, EventKind};
use crate::domain::limit_set::ExplicitStop;

/// The word by which an agent says that its work is partial.
const PARTIAL: &str = "PARTIAL";
/// The most characters of a reason that are kept.
const LONGEST_REASON: usize = 2_000;

/// Whether a message says that the work is partial: a line begins with the word, or has it as its status.
pub fn says_partial(message: &str) -> bool {
    message.contains(PARTIAL) && message.lines().any(is_partial)
}

fn is_partial(line: &str) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric();
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(PARTIAL).any(|(at, word)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let stands_alone = !after.starts_with(joins) && !before.ends_with(joins);
        let lead = before.trim_matches(is_mark).to_ascii_lowercase();
        let lead = lead.strip_suffix(" is").unwrap_or(&lead);
        let last = lead.rsplit(is_mark).next().unwrap_or_default();
        stands_alone && (lead.is_empty() || last == "status")
    })
}

/// Looks in a call's result for the line that asks for a stop, where the rules of its run name one.
pub fn mark(event: &mut Event, result: Option<&RawValue>, rule: Option<&ExplicitStop>) {
    if let (EventKind::ToolEnded(_, outcome), Some(marker)) =
        (&mut event.kind, rule.and_then(|rule| rule.marker.as_deref()))
    {
        outcome.stop_marker = result.and_then(|raw| marked(raw.get(), marker));
    }
}

/// Finds the first line, in any string of a JSON text, that begins with the marker; returns the rest of it.
fn marked(json: &str, marker: &str) -> Option<String> {
    let quoted = serde_json::to_string(marker).ok()?;
    let escaped = quoted.get(1..quoted.len() - 1).filter(|escaped| !escaped.is_empty())?;
    let (begins, _) = json.match_indices(escaped).find(|(at, _)| begins_line(&json.as_bytes()[..*at]))?;
    let rest = &json[begins + escaped.len()..];
    let text: String = serde_json::from_str(&format!("\"{}\"", &rest[..end_of_line(rest.as_bytes())])).ok()?;
    Some(reason(&text))
}

/// Whether what stands before in a JSON string ends a line, or the string begins here; blanks between are passed over.
fn begins_line(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let (last, rest) = match before {
        [rest @ .., b'\\', last @ (b'n' | b'r' | b't')] => (*last, rest),
        [rest @ .., b'"'] => return backslashes(rest).is_multiple_of(2),
        _ => return false,
    };
    let is_escape = backslashes(rest).is_multiple_of(2);
    is_escape && (last != b't' || begins_line(rest))
}

fn backslashes(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Returns where a line of a JSON string ends: at its escaped line feed, or with the string.
fn end_of_line(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match (byte, rest.get(at + 1)) {
            (b'"', _) | (b'\\', Some(b'n' | b'r')) => return at,
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// How a command checks an agent's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is complete, or the command has no opinion.
    Passes,
    /// It is not, for this reason.
    Blocks(String),
    /// The command failed, so that nothing is known.
    Fails(String),
}

/// The forms in which hooks say on standard output that something is to be blocked.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Said {
    decision: Option<String>,
    ok: Option<bool>,
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    reason: Option<String>,
    stop_reason: Option<String>,
}

/// Reads what a command says, as the client reads its hooks: by exit code 2, or by JSON.
pub fn ruling(code: Option<i32>, stdout: &[u8], stderr: &[u8]) -> Ruling {
    let complaint = reason(&String::from_utf8_lossy(stderr));
    match code {
        Some(0) => match serde_json::from_slice::<Said>(stdout).unwrap_or_default() {
            said if said.decision.as_deref() == Some("block")
                || said.ok == Some(false)
                || said.goes_on == Some(false) =>
            {
                let why = said.reason.or(said.stop_reason).map(|why| reason(&why)).filter(|why| !why.is_empty());
                Ruling::Blocks(why.unwrap_or_else(|| "the command says so and gives no reason".to_owned()))
            }
            _ => Ruling::Passes,
        },
        Some(2) if complaint.is_empty() => Ruling::Blocks("the command ended with exit code 2".to_owned()),
        Some(2) => Ruling::Blocks(complaint),
        Some(code) => Ruling::Fails(with(&format!("it ended with exit code {code}"), &complaint)),
        None => Ruling::Fails(with("a signal ended it", &complaint)),
    }
}

fn with(what: &str, complaint: &str) -> String {
    if complaint.is_empty() { what.to_owned() } else { format!("{what}: {complaint}") }
}

/// Keeps of a reason what a person and a model can read.
pub fn reason(text: &str) -> String {
    let readable = text.trim().chars().filter(|c| !c.is_control() || *c == '\n');
    readable.take(LONGEST_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_is_a_word_of_its_own_in_its_place() {
        for (message, partial) in [
            ("PARTIAL", true),
            ("PARTIAL: two of three done", true),
            ("Two of three.\n\n**PARTIAL**\n", true),
            ("## Status: PARTIAL", true),
            ("- status: **PARTIAL** (tests fail)", true),
            ("{\"status\": \"PARTIAL\"}", true),
            ("I stop here with status PARTIAL.", true),
            ("The status is PARTIAL", true),
            ("status: COMPLETE, nothing PARTIAL", false),
            ("partial: no", false),
            ("PARTIALLY done", false),
            ("PARTIAL_RESULTS is a constant", false),
            ("see IMPARTIAL", false),
            ("this is not PARTIAL", false),
            ("", false),
        ] {
            assert_eq!(says_partial(message), partial, "{message}");
        }
    }

    #[test]
    fn a_marker_counts_where_it_begins_a_line() {
        for (json, found) in [
            (r#"{"stdout":"STOP: all done"}"#, Some("all done")),
            (r#"{"stdout":"one\nSTOP: all \"done\"\nmore"}"#, Some("all \"done\"")),
            (r#"{"stdout":"one\r\n \tSTOP:\r\n"}"#, Some("")),
            (r#"[{"type":"text","text":"STOP: \u00e9\\n"}]"#, Some("é\\n")),
            (r#""STOP: a plain text""#, Some("a plain text")),
            (r#"{"stdout":"do not STOP: here"}"#, None),
            (r#"{"stdout":"a literal \\nSTOP: here"}"#, None),
            (r#"{"stdout":"in quotes \"STOP: here\""}"#, None),
            (r#"{"stdout":"stop: here"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(marked(json, "STOP:").as_deref(), found, "{json}");
        }
        assert_eq!(marked(r#"{"a":"\"END\" x"}"#, "\"END\"").as_deref(), Some("x"));
        assert_eq!(marked(r#"{"a":"x"}"#, ""), None);
    }

    #[test]
    fn a_command_rules_by_its_exit_code_or_by_json() {
        let blocks = |why: &str| Ruling::Blocks(why.to_owned());
        let fails = |why: &str| Ruling::Fails(why.to_owned());
        let no_reason = "the command says so and gives no reason";
        for (code, stdout, stderr, ruling_is) in [
            (Some(0), "", "", Ruling::Passes),
            (Some(0), "all is well", "warning", Ruling::Passes),
            (Some(0), "{\"decision\":\"approve\"}", "", Ruling::Passes),
            (Some(0), "{\"ok\":true}", "", Ruling::Passes),
            (Some(0), "{\"ok\":\"no\"}", "", Ruling::Passes),
            (Some(0), "{\"decision\":\"block\",\"reason\":\"no tests\"}\n", "", blocks("no tests")),
            (Some(0), "{\"ok\":false,\"reason\":\" no docs \"}", "", blocks("no docs")),
            (Some(0), "{\"continue\":false,\"stopReason\":\"loops\"}", "", blocks("loops")),
            (Some(0), "{\"ok\":false}", "", blocks(no_reason)),
            (Some(2), "", "2 tests fail\n", blocks("2 tests fail")),
            (Some(2), "", "", blocks("the command ended with exit code 2")),
            (Some(127), "", "sh: nope: not found", fails("it ended with exit code 127: sh: nope: not found")),
            (Some(1), "{\"decision\":\"block\"}", "", fails("it ended with exit code 1")),
            (None, "", "", fails("a signal ended it")),
        ] {
            assert_eq!(ruling(code, stdout.as_bytes(), stderr.as_bytes()), ruling_is, "{code:?} {stdout} {stderr}");
        }
    }
}
