//! Reads JSON as the client does, in JavaScript. It takes what `serde_json` refuses: a key twice, half a surrogate, numbers beyond all
//! bounds, and any depth. What were passed over as broken would be in force all the same.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::wire::replace_lone_surrogates::replace_lone_surrogates;

/// How deep values are looked at: nothing that the client reads lies deeper.
const DEEPEST: usize = 100;

/// Reads a text as a type; nothing where it is no JSON, or of another shape. Of a key that stands there twice the last counts.
pub fn parse<T: DeserializeOwned>(text: &str) -> Option<T> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&strict(text)?).ok())
}

/// Writes a text anew, as everybody reads it; nothing where it is no JSON.
fn strict(text: &str) -> Option<String> {
    let replaced = String::from_utf8(replace_lone_surrogates(plain(text).into_bytes())).ok()?;
    let value: Value = serde_json::from_str(&replaced).ok()?;
    Some(value.to_string())
}

/// Returns the text with `null` for what lies too deep, and 0 for numbers that are beyond all bounds.
fn plain(text: &str) -> String {
    let (mut plain, mut rest, mut depth) = (String::with_capacity(text.len()), text, 0_usize);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => end_of_string(rest),
            '-' | '0'..='9' => {
                rest.find(|sign: char| !sign.is_ascii_alphanumeric() && !"+-.".contains(sign)).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let (part, behind) = rest.split_at(length);
        depth += usize::from(matches!(first, '{' | '['));
        if depth <= DEEPEST {
            let is_endless = matches!(first, '-' | '0'..='9') && part.parse().is_ok_and(f64::is_infinite);
            plain.push_str(if is_endless { "0" } else { part });
        } else if depth == DEEPEST + 1 && matches!(first, '{' | '[') {
            plain.push_str("null");
        }
        depth = depth.saturating_sub(usize::from(matches!(first, '}' | ']')));
        rest = behind;
    }
    plain
}

/// Returns how long the string is that a text begins with.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_javascript_takes_is_read() {
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        for (text, value) in [
            (r#"{"a": 1, "a": 2}"#.to_owned(), json!({"a": 2})),
            ("\u{feff}{\"a\": true}".to_owned(), json!({"a": true})),
            (r#"{"a": "x\ud800", "b": [1e999, -1e999, 2.5]}"#.to_owned(), json!({"a": "x\u{fffd}", "b": [0, 0, 2.5]})),
            (format!(r#"{{"a": {}, "b": "\\\"[", "c": [1]}}"#, deep(5_000)), json!({"b": "\\\"[", "c": [1]})),
        ] {
            let mut read: Value = parse(&text).unwrap();
            if text.len() > 5_000 {
                assert!(read.as_object_mut().unwrap().remove("a").is_some());
            }
            assert_eq!(read, value, "{text}");
        }
        for text in ["", "{", r#"{"a": 1,}"#, "{'a': 1}", "\"\u{1}\"", r#"{"a" 1e999}"#] {
            assert_eq!(parse::<Value>(text), None, "{text}");
        }
    }
}
