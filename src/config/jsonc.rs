//! JSON with comments, trailing commas and keys that come twice. By hand: it blanks them in place, and `serde_json` reads the rest.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::stable_sort::sort_by_key;
use crate::domain::text::json_fault;

/// What a text says.
#[derive(Debug)]
pub struct JsonRead {
    /// The value; of a key that is there twice the first counts.
    pub value: Value,
    /// The keys that come again, in the order of the text.
    pub again: Vec<Again>,
}

/// A key that its object has already.
#[derive(Debug, PartialEq)]
pub struct Again {
    /// The key, from the top of the text.
    pub key: String,
    /// What it says this time.
    pub value: Value,
    /// The lines of the first and of this one.
    pub lines: (usize, usize),
}

/// Reads a text. The error says where it is no JSON, and why.
pub fn read(text: &str) -> Result<JsonRead, String> {
    let mut plain = without_comments(text)?;
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|cause| json_fault::words(&cause));
    let value = parse(&plain)?;
    let members = second_members(&plain);
    if members.is_empty() {
        return Ok(JsonRead { value, again: Vec::new() });
    }
    let again = members.iter().map(|it| Again {
        key: it.key.clone(),
        value: parse(&plain[it.value..it.end]).unwrap_or_default(),
        lines: (it.first_line, it.line),
    });
    let again = again.collect();
    for member in members.iter().rev() {
        plain.replace_range(member.start..member.end, &" ".repeat(member.end - member.start));
    }
    Ok(JsonRead { value: parse(&plain)?, again })
}

/// Returns the text with spaces in place of comments and of commas before an end: every line and column stays.
pub fn without_comments(text: &str) -> Result<String, String> {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma, mut before_comma) = (0, None, 0);
    let mut last = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = string_end(&bytes, at);
                (comma, last) = (None, b'"');
                continue;
            }
            (b'/', Some(b'/')) => {
                let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length);
                blank(&mut bytes[at..end]);
                at = end;
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = bytes[at + 2..].windows(2).position(|two| two == b"*/").map(|length| at + length + 4);
                let end = end.ok_or_else(|| format!("the comment in line {} has no end", line_of(&bytes, at)))?;
                blank(&mut bytes[at..end]);
                at = end;
                continue;
            }
            (b',', _) => (comma, before_comma) = (Some(at), last),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take().filter(|_| !matches!(before_comma, b'{' | b'[' | b',' | 0)) {
                    bytes[comma] = b' ';
                }
            }
            (byte, _) if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        if !bytes[at].is_ascii_whitespace() {
            last = bytes[at];
        }
        at += 1;
    }
    String::from_utf8(bytes).map_err(|cause| cause.to_string())
}

fn blank(comment: &mut [u8]) {
    comment.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// Returns where the string that begins here is over.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// A member whose key its object has already, from the comma before it on.
struct SecondMember {
    key: String,
    start: usize,
    value: usize,
    end: usize,
    line: usize,
    first_line: usize,
}

/// An object or a list that has begun.
#[derive(Default)]
struct Container {
    is_object: bool,
    /// The key or the place of the member at hand.
    name: String,
    place: usize,
    comma: usize,
    lines: BTreeMap<String, usize>,
    second: Option<SecondMember>,
}

/// Finds the members of valid JSON whose keys come again.
fn second_members(text: &str) -> Vec<SecondMember> {
    let bytes = text.as_bytes();
    let (mut open, mut found, mut at): (Vec<Container>, Vec<SecondMember>, usize) = (Vec::new(), Vec::new(), 0);
    let mut line = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'"' => {
                let end = string_end(bytes, at);
                let rest = text[end..].trim_start();
                if let Some(name) = serde_json::from_str(&text[at..end]).ok().filter(|_| rest.starts_with(':')) {
                    note_key(&mut open, name, line, text.len() - rest.len() + 1);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => open.push(Container { is_object: bytes[at] == b'{', ..Container::default() }),
            byte @ (b',' | b'}' | b']') => {
                if let Some(container) = open.last_mut() {
                    found.extend(container.second.take().map(|second| SecondMember { end: at, ..second }));
                    container.comma = at;
                    container.place += 1;
                }
                if byte != b',' {
                    open.pop();
                }
            }
            _ => {}
        }
        at += 1;
    }
    // What is inside another that goes anyway says nothing of its own.
    sort_by_key(&mut found, |it| it.start);
    let mut covered = 0;
    found.retain(|it| {
        let is_inside = it.end <= covered;
        covered = covered.max(it.end);
        !is_inside
    });
    found
}

/// Takes note of a key, whose value begins after its colon.
fn note_key(open: &mut [Container], name: String, line: usize, value: usize) {
    let above: Vec<String> = match open {
        [above @ .., _] => {
            above.iter().map(|it| if it.is_object { it.name.clone() } else { it.place.to_string() }).collect()
        }
        [] => Vec::new(),
    };
    let Some(container) = open.last_mut() else { return };
    container.name.clone_from(&name);
    if let Some(first_line) = container.lines.get(&name).copied() {
        let key = above.into_iter().chain([name]).collect::<Vec<_>>().join(".");
        let start = container.comma;
        container.second = Some(SecondMember { key, start, value, end: value, line, first_line });
        return;
    }
    container.lines.insert(name, line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "// top\n{\n  \"a\": 1, // one\n  /* two\n lines */ \"b\": [1, 2, ],\n  \"c\": \"// no, \\\" comment\",\n}\n";
        let read = read(text).unwrap();
        assert_eq!(read.value, json!({"a": 1, "b": [1, 2], "c": "// no, \" comment"}));
        assert!(read.again.is_empty());
    }

    #[test]
    fn what_is_no_json_is_named_with_its_place() {
        for (text, error) in [
            ("", "it ends where a value has to stand at line 1 column 0"),
            ("{\n  // one\n  \"a\" 1\n}", "expected `:` at line 3 column 7"),
            ("{\"a\": [,]}", "expected value at line 1 column 8"),
            ("{,}", "key must be a string at line 1 column 2"),
            ("[1,,]", "expected value at line 1 column 4"),
            ("{}\n/* open", "the comment in line 2 has no end"),
            ("{\"a\": \"open", "its last `\"` is missing at line 1 column 11"),
        ] {
            assert_eq!(read(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn a_key_that_comes_again_is_named_and_the_first_counts() {
        let text = "{\"a\": {\"x\": 1,\n \"y\": 2,\n \"x\": {\"z\": 3, \"z\": 4}},\n \"a\": 5, \"l\": [{\"k\": 1, \"\\u006b\": 2}]}";
        let read = read(text).unwrap();
        assert_eq!(read.value, json!({"a": {"x": 1, "y": 2}, "l": [{"k": 1}]}));
        let again = |key: &str, value, lines| Again { key: key.to_owned(), value, lines };
        assert_eq!(
            read.again,
            [again("a.x", json!({"z": 4}), (1, 3)), again("a", json!(5), (1, 4)), again("l.0.k", json!(2), (4, 4)),]
        );
    }
}
