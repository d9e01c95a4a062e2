//! What files begin with, and which words stay out of them.

use crate::tidy::{check, rust, rust_besides, tree};

/// Words that do not belong into the tree, and what to write instead.
const BANNED: [(&str, &str); 9] = [
    ("todo!", "write it, or leave it out"),
    ("unimplemented!", "write it, or leave it out"),
    ("dbg!", "take it out"),
    ("TODO", "do it, or open an issue"),
    ("FIXME", "fix it, or open an issue"),
    ("XXX", "say what is meant"),
    ("#[ignore", "a test that does not run is no test: make it run or take it out"),
    ("should_panic", "return a value and compare it"),
    ("#[allow", "#[expect(…, reason = \"…\")] says why, and ends when it is no longer needed"),
];

/// Words that the code has grown out of, and what the thing is called now.
const OUTGROWN: [(&str, &str); 16] = [
    ("book", "SessionState, `state`"),
    ("pool", "SharedBudget, `shared_budget`"),
    ("pools", "`shared_budgets`"),
    ("tally", "Counters, `counters`"),
    ("tallies", "`counters`"),
    ("roster", "registry"),
    ("intake", "TranscriptIngest, `ingest`"),
    ("handed_down", "`inherited_budget`"),
    ("|want|", "a pending trip: `|trip|`"),
    ("mended", "`replace_lone_surrogates`, `replaced`"),
    ("left_alone", "`orphaned_since`"),
    ("Stamp", "FileStates, `file_states`"),
    ("teller", "ScriptPlayer, `script_player`"),
    ("Teller", "ScriptPlayer, `script_player`"),
    ("Scene", "Fixture, `fixture`"),
    ("scene", "Fixture, `fixture`"),
];

/// Names that say nothing.
const EMPTY_NAMES: [&str; 5] = ["util", "utils", "helpers", "common", "manager"];

#[test]
fn every_file_says_what_it_is() {
    let silent = rust().into_iter().filter(|text| !text.lines.first().is_some_and(|line| line.starts_with("//! ")));
    check(
        silent.map(|text| format!("{}:1: begin with `//!` and a sentence on what this file is", text.path)).collect(),
    );
}

#[test]
fn banned_words_stay_out() {
    let mut broken = Vec::new();
    for text in rust_besides(file!()) {
        for (at, line) in text.lines.iter().enumerate() {
            for (word, instead) in BANNED.iter().filter(|(word, _)| line.contains(word)) {
                broken.push(format!("{}:{}: `{word}`: {instead}", text.path, at + 1));
            }
        }
        for name in text.path.split(['/', '.']).filter(|part| EMPTY_NAMES.contains(part)) {
            broken.push(format!("{}: `{name}` says nothing: name the file after its idea", text.path));
        }
    }
    check(broken);
}

#[test]
fn a_thing_has_one_name() {
    let mut broken = Vec::new();
    for text in rust_besides(file!()) {
        for (at, line) in text.lines.iter().enumerate() {
            let words = || line.split(|c: char| !c.is_alphanumeric() && !"_|".contains(c));
            for (word, now) in OUTGROWN.iter().filter(|(word, _)| words().any(|part| part == *word)) {
                broken.push(format!("{}:{}: `{word}`: call it {now}", text.path, at + 1));
            }
        }
    }
    check(broken);
}

#[test]
fn modules_name_what_they_use() {
    let mut broken = Vec::new();
    for text in rust() {
        for (line, code) in text.code().filter(|(_, code)| code.starts_with("use super::")) {
            broken.push(format!("{}:{line}: `{code}`: say `use crate::…`", text.path));
        }
    }
    check(broken);
}

#[test]
fn no_machine_shows_through() {
    let mut broken = Vec::new();
    for text in tree() {
        for (at, line) in text.lines.iter().enumerate() {
            for path in line.split(|c: char| " \"'`(=:".contains(c)).filter(|word| is_of_one_machine(word)) {
                broken.push(format!(
                    "{}:{}: `{path}` is a path of one machine: use $HOME or /home/you",
                    text.path,
                    at + 1
                ));
            }
        }
    }
    check(broken);
}

/// Whether a word is a path below the home folder of somebody in particular, or of a build machine.
fn is_of_one_machine(word: &str) -> bool {
    let mut parts = word.split('/').skip_while(|part| part.is_empty());
    match (word.starts_with('/'), parts.next(), parts.next()) {
        (true, Some("home" | "Users"), Some(name)) => !["", "you", "$USER", "*"].contains(&name),
        (true, Some("root" | "work"), Some(name)) => !name.is_empty(),
        _ => false,
    }
}

/// What chooses between words by a number, and where it may.
const BY_NUMBER: [&str; 2] = ["== 1 { \"", "== 1 { format!("];
const FORMATS: &str = "src/ui/formats.rs";

#[test]
fn words_that_go_with_a_number_have_one_source() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.module().is_some() && text.path != FORMATS) {
        for (line, code) in text.code().filter(|(_, code)| BY_NUMBER.iter().any(|word| code.contains(word))) {
            broken.push(format!("{}:{line}: `{}`: use `counted` or `by_number` of {FORMATS}", text.path, code.trim()));
        }
    }
    check(broken);
}

/// The files that do by hand what a library could, too.
const BY_HAND: [&str; 9] = [
    "src/config/jsonc.rs",
    "src/config/schema.rs",
    "src/config/yaml.rs",
    "src/install/json.rs",
    "src/platform/post.rs",
    "src/platform/run_command.rs",
    "src/platform/serve.rs",
    "src/ui/table.rs",
    "src/wire/shell/mod.rs",
];

#[test]
fn what_is_done_by_hand_says_why_in_its_first_line() {
    let texts = rust();
    let says_why = |path: &str| {
        let text = texts.iter().find(|text| text.path == path);
        text.is_some_and(|text| text.lines.first().is_some_and(|line| line.contains("By hand")))
    };
    let silent = BY_HAND.iter().filter(|path| !says_why(path));
    check(silent.map(|path| format!("{path}:1: say `By hand`, and why it is no library")).collect());
}
