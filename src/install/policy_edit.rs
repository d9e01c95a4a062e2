//! Values put into a policy file that a person has written: its comments, its order and all else stay as they are.

use serde_json::{Value, json};

use crate::config::jsonc;
use crate::error::{Error, Result};
use crate::install::json;

/// Returns the text with a value at a path of keys; the blocks on the way are added where they are missing.
pub fn put(text: &str, path: &[&str], value: &Value) -> Result<String> {
    let mut text = text.to_owned();
    for depth in 1..=path.len() {
        let is_last = depth == path.len();
        let block = json!({});
        let edited = put_member(&text, &path[..depth], if is_last { value } else { &block }, is_last);
        text = edited.ok_or_else(|| by_hand(path))?;
    }
    let read = jsonc::read(&text).map_err(|_| by_hand(path))?;
    let found = path.iter().try_fold(&read.value, |at, key| at.get(key));
    if found == Some(value) { Ok(text) } else { Err(by_hand(path)) }
}

fn by_hand(path: &[&str]) -> Error {
    Error::failed(format!("the file cannot be edited at `{}`", path.join(".")))
        .hint("it was left as it is; `fusebox config check` says what is wrong with it, else write the value by hand")
}

/// Puts in one member of a block that is there; one that is there already stays, unless it is to be replaced.
fn put_member(text: &str, path: &[&str], value: &Value, replaces: bool) -> Option<String> {
    // Every place stays the same in it.
    let bare = jsonc::without_comments(text).ok()?;
    json::check(&bare).ok()?;
    let (name, blocks) = path.split_last()?;
    let block = blocks.iter().try_fold(json::root(&bare)?, |at, key| json::member(&bare, &at, key))?;
    bare[block.clone()].starts_with('{').then_some(())?;
    let edited = match json::member(&bare, &block, name) {
        Some(_) if !replaces => return Some(text.to_owned()),
        Some(span) => json::replace(&bare, &span, value),
        None => json::insert(&bare, &block, Some(name), value),
    };
    carry_over(text, &bare, &edited)
}

/// Makes the same edit in the text with comments; nothing where it would take a comment away.
fn carry_over(text: &str, bare: &str, edited: &str) -> Option<String> {
    let (before, after) = (bare.as_bytes(), edited.as_bytes());
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let most = before.len().min(after.len()) - start;
    let same = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let (head, gone, tail) = (text.get(..start)?, text.get(start..text.len() - same)?, text.get(text.len() - same..)?);
    let is_same = bare.get(start..bare.len() - same) == Some(gone);
    is_same.then(|| Some(format!("{head}{}{tail}", edited.get(start..edited.len() - same)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_order_stay() {
        for (text, path, after) in [
            ("{\n}\n", &["main", "max_turns"][..], "{\n  \"main\": {\n    \"max_turns\": 7\n  }\n}\n"),
            (
                "{\n  // mine\n  \"main\": { \"max_turns\": 5 }, // é five\n}\n",
                &["main", "max_turns"],
                "{\n  // mine\n  \"main\": { \"max_turns\": 7 }, // é five\n}\n",
            ),
            (
                "{\n  \"agents\": {\n    \"qa\": {\n      \"a\": 1 // one\n    }\n  }\n}\n",
                &["agents", "qa", "max_turns"],
                "{\n  \"agents\": {\n    \"qa\": {\n      \"a\": 1,\n      \"max_turns\": 7 // one\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(put(text, path, &json!(7)).unwrap(), after, "{text}");
        }
    }

    #[test]
    fn what_would_lose_a_comment_or_is_no_block_is_left() {
        for text in ["{ /* nothing yet */ }", "[]", "{\"main\": 3}", "", "{\"main\":"] {
            assert!(put(text, &["main", "max_turns"], &json!(7)).is_err(), "{text}");
        }
    }
}
