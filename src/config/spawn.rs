//! Finds the `execution_limits` block in the prompt of an Agent call: JSON, JavaScript as people write it, or YAML.

use serde_json::{Map, Value};

use crate::config::yaml;

/// The word that a block begins with.
const WORD: &str = "execution_limits";

/// How many places of a prompt are looked at where a block could begin, and how long a block may be, in bytes: each is read to its end.
const MOST: usize = 64;
const LONGEST: usize = 4_096;

/// Returns the first `execution_limits` block of a prompt.
pub fn find(prompt: &str) -> Option<Map<String, Value>> {
    let behind_name = prompt.match_indices(WORD).map(|(start, _)| &prompt[start + WORD.len()..]);
    let begun = behind_name.filter_map(|after| {
        let after = after.trim_start_matches(['"', '\'', '`']).trim_start_matches([' ', '\t']).strip_prefix(':')?;
        Some(&after[..after.floor_char_boundary(LONGEST)])
    });
    begun.take(MOST).find_map(|after| match after.trim_start_matches([' ', '\t']) {
        flow if flow.starts_with('{') => parse(&without_comments(braces(flow)?)),
        _ => parse(&indented(after)?),
    })
}

/// Returns the block of a prompt in a form that is found again; nothing where there is none.
pub fn text_of(prompt: &str) -> Option<String> {
    // What looks like a comment would be taken for one.
    let block = serde_json::to_string(&find(prompt)?).ok()?.replace('/', "\\/");
    Some(format!("{WORD}: {block}"))
}

fn parse(block: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(block).ok().or_else(|| yaml::parse(block).ok())? {
        Value::Object(entries) => Some(entries),
        _ => None,
    }
}

/// Returns the text up to the brace that closes the first one.
fn braces(text: &str) -> Option<&str> {
    let mut depth = 0;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some('"'),
            (None, '{') => depth += 1,
            (None, '}') if depth == 1 => return Some(&text[..=at]),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// Returns the indented lines that follow the end of this line.
fn indented(text: &str) -> Option<String> {
    let (rest_of_line, lines) = text.split_once('\n')?;
    let block: Vec<&str> =
        lines.lines().take_while(|line| line.starts_with([' ', '\t']) && line.contains(':')).collect();
    (rest_of_line.trim().is_empty() && !block.is_empty()).then(|| block.join("\n"))
}

/// Takes `// comments` out of a block of numbers and words.
fn without_comments(block: &str) -> String {
    block.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_kept_is_found_again() {
        for prompt in [
            "work\nexecution_limits: { max_turns: 10, timeout_action: 'pause' } // not more",
            "execution_limits:\n  max_turns: 10\n  completion: \"https://x/{y}\"\nGo on.",
            "execution_limits: {}",
        ] {
            assert_eq!(find(&text_of(prompt).unwrap()), find(prompt), "{prompt}");
        }
        assert_eq!(text_of("no limits"), None);
    }

    #[test]
    fn what_only_names_a_block_hides_none() {
        let named = "see execution_limits in the docs. ".repeat(10_000);
        assert!(find(&format!("{named}execution_limits: {{ max_turns: 10 }}")).is_some());
    }
}
