//! An answer as it may be shown: the client prints its texts on the person's terminal as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::ui::terminal;

/// How JSON may write what a terminal obeys or hides.
const ESCAPES: [&str; 4] = ["\\u", "\\b", "\\f", "\\r"];
/// What goes to a tool, and stays as it is.
const INPUT: &str = "updatedInput";

/// Makes an answer safe for a terminal: no text in it, but a call's own input, keeps a character that one obeys or hides.
pub fn shown(answer: &str) -> Cow<'_, str> {
    let is_suspect = answer.chars().any(terminal::is_unseen) || ESCAPES.iter().any(|escape| answer.contains(escape));
    let safe = if is_suspect { object(answer) } else { None };
    safe.map_or(Cow::Borrowed(answer), Cow::Owned)
}

/// Makes the texts of an object safe, and of the objects in it.
fn object(text: &str) -> Option<String> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
    let members = members.iter().map(|(name, value)| {
        let value = value.get();
        let safe = match value.as_bytes().first() {
            Some(b'"') => serde_json::to_string(&terminal::lines(&serde_json::from_str::<String>(value).ok()?)).ok()?,
            Some(b'{') if name != INPUT => object(value)?,
            _ => value.to_owned(),
        };
        Some(format!("{}:{safe}", serde_json::to_string(name).ok()?))
    });
    Some(format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_safe_and_a_calls_input_is_not() {
        let answer = "{\"systemMessage\":\"a\\u001b[2J\\nb\u{9b}\u{202e}\",\
            \"hookSpecificOutput\":{\"updatedInput\":{\"command\":\"\\u001b\"},\"additionalContext\":\"\\r\"},\"continue\":false}";
        let safe: serde_json::Value = serde_json::from_str(&shown(answer)).unwrap();
        assert_eq!(safe["systemMessage"], "a\\u001b[2J\nb\\u009b\\u202e");
        assert_eq!(safe["hookSpecificOutput"]["additionalContext"], "\\u000d");
        assert_eq!(safe["hookSpecificOutput"]["updatedInput"]["command"], "\u{1b}");
        assert_eq!(safe["continue"], false);
        let usual = r#"{"reason":"grün \"x\" \n"}"#;
        assert_eq!(shown(usual), usual);
    }
}
