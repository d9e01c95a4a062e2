//! A limit's key stands in the limit's own file: what other files need to know of it is an attribute of its row.

use fusebox::limits::REGISTRY;

use crate::tidy::{Text, check, rust};

/// Where a word that is also a limit's key means something else.
const OTHER_MEANINGS: [(&str, &str); 1] = [
    // How many requests fit into one window of `adapter_rate_limit`.
    ("src/config/rate_windows.rs", "max_requests"),
];

/// The files that show messages with values as they may be.
const SAMPLES: [&str; 4] =
    ["src/messages/next_step.rs", "src/messages/notices.rs", "src/messages/to_agents.rs", "src/messages/to_people.rs"];

/// Returns the lines of a file that name a limit: by its key in quotes, or by its file in `limits`. Tests and examples of
/// configuration may.
fn named(text: &Text) -> Vec<(usize, &'static str)> {
    let tests = text.lines.iter().position(|line| line == "#[cfg(test)]").unwrap_or(text.lines.len());
    let lines = text.code().filter(|(line, code)| *line <= tests && !code.trim_start().starts_with("example: "));
    let keys = lines.flat_map(|(line, code)| {
        let keys = REGISTRY.iter().map(|limit| limit.key);
        keys.filter(move |key| names(code, key)).map(move |key| (line, key))
    });
    keys.collect()
}

/// Whether a line names a limit, as `"max_turns"`, `limits::max_turns` or `max_turns::LIMIT`.
fn names(code: &str, key: &str) -> bool {
    let is_whole = |text: &str| !text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let file = format!("limits::{key}");
    let is_its_file = code.match_indices(&file).any(|(at, _)| is_whole(&code[at + file.len()..]));
    is_its_file || code.contains(&format!("\"{key}\"")) || code.contains(&format!("{key}::LIMIT"))
}

fn is_searched(path: &str) -> bool {
    let is_own = path.starts_with("src/limits/") || SAMPLES.contains(&path);
    path.starts_with("src/") && !is_own && !path.ends_with("/tests.rs")
}

#[test]
fn a_limits_key_stands_in_its_own_file() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| is_searched(&text.path)) {
        for (line, key) in named(text) {
            if !OTHER_MEANINGS.contains(&(text.path.as_str(), key)) {
                broken.push(format!(
                    "{}:{line}: `{key}`: make what is meant an attribute of its row in src/limits",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

#[test]
fn every_other_meaning_is_still_there() {
    let texts = rust();
    let is_there = |path: &str, word: &str| {
        texts.iter().filter(|text| text.path == path).any(|text| named(text).iter().any(|(_, key)| *key == word))
    };
    let gone = OTHER_MEANINGS.iter().filter(|(path, word)| !is_there(path, word));
    check(gone.map(|(path, word)| format!("{path}: `{word}` is gone: take it out of OTHER_MEANINGS")).collect());
}

#[test]
fn a_named_limit_is_found_and_tests_and_examples_are_not() {
    let key = REGISTRY[0].key;
    let made_up = [
        format!("const KEY: &str = \"{key}\";"),
        format!("// a comment about \"{key}\""),
        format!("    example: r#\"{{ \"{key}\": 1 }}\"#,"),
        format!("use crate::limits::{key};"),
        format!("    if *rule.limit == {key}::LIMIT {{"),
        format!("use crate::limits::{key}_of_another;"),
        "#[cfg(test)]".to_owned(),
        format!("const IN_TESTS: &str = \"{key}\";"),
    ];
    let text = Text { path: "src/made_up.rs".to_owned(), lines: made_up.to_vec() };
    assert_eq!(named(&text), [(1, key), (4, key), (5, key)]);
}
