//! A hint says what to do: it is a command, or begins with a verb.

use crate::tidy::{Text, check, rust};

/// What a hint in words may begin with.
const VERBS: [&str; 21] = [
    "add", "call", "chmod", "correct", "export", "give", "install", "let", "make", "move", "name", "prune", "put",
    "remove", "run", "say", "set", "start", "use", "wait", "write",
];

/// How another hint begins that names what was meant.
const MEANT: &str = "the nearest";

/// Returns the hints of a file that stand where they are given, with their lines.
fn hints(text: &Text) -> Vec<(usize, String)> {
    let source = text.lines.join("\n");
    let given = source.match_indices(".hint(").filter_map(|(at, call)| {
        let said = source[at + call.len()..].trim_start();
        let said = said.strip_prefix("format!(").unwrap_or(said).trim_start().strip_prefix('"')?;
        let end = said.match_indices('"').find(|(end, _)| !said[..*end].ends_with('\\'))?.0;
        let words: Vec<&str> = said[..end].split("\\\n").map(str::trim_start).collect();
        Some((source[..at].matches('\n').count() + 1, words.concat()))
    });
    given.collect()
}

/// Whether a hint says what to do. One that ends in what is found at run time has its command there.
fn says_what_to_do(hint: &str) -> bool {
    let begins = |clause: &str| {
        let word = clause.split(' ').next().unwrap_or_default();
        VERBS.contains(&word) || word.starts_with("--")
    };
    let clauses = hint.split([':', ';', ',']).flat_map(|clause| clause.split(" and ")).map(str::trim);
    hint.contains('`')
        || hint.ends_with("{}")
        || hint.ends_with('?')
        || hint.starts_with(MEANT)
        || clauses.into_iter().any(begins)
}

#[test]
fn every_hint_says_what_to_do() {
    let texts = rust();
    let sources = texts.iter().filter(|text| text.path.starts_with("src/"));
    let all: Vec<(&str, usize, String)> =
        sources.flat_map(|text| hints(text).into_iter().map(|(line, hint)| (text.path.as_str(), line, hint))).collect();
    assert!(all.len() > 50, "only {} hints are found", all.len());
    let facts = all.iter().filter(|(.., hint)| !says_what_to_do(hint));
    check(
        facts.map(|(path, line, hint)| format!("{path}:{line}: `{hint}` reads like a fact: say what to do")).collect(),
    );
}

#[test]
fn a_hint_that_reads_like_a_fact_is_found() {
    for (hint, says) in [
        ("FUSEBOX_HOME names another folder", false),
        ("it was left as it is", false),
        ("set FUSEBOX_HOME to another folder", true),
        ("it takes a moment: give the command again", true),
        ("`fusebox doctor` shows what is wrong with it", true),
        ("is it installed and on the PATH?", true),
    ] {
        assert_eq!(says_what_to_do(hint), says, "{hint}");
    }
}
