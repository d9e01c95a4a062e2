//! What a person is told of a session is a row of `src/messages`, so that `docs/messages.md` has it and its length is tested.

use crate::tidy::{Text, check, rust};

/// What tells a person, and how many arguments stand before the text.
const TELLS: [(&str, usize); 3] = [(".notify_user(", 0), (".notify_user_once(", 1), (".notice(", 0)];

/// What makes a text on the spot; in a file that tells a person, a name for it would hide it.
const MADE: [&str; 5] = ["\"", "&\"", "format!(", "&format!(", "String::from("];

/// Returns the numbers of the lines in which a file tells a person what no table has.
fn untabled(text: &Text) -> Vec<usize> {
    let tests = text.lines.iter().position(|line| line == "#[cfg(test)]").unwrap_or(text.lines.len());
    let lines: Vec<(usize, &str)> = text.code().filter(|(line, _)| *line <= tests).collect();
    let is_made = |words: &str| MADE.iter().any(|begins| words.starts_with(begins));
    let mut found = Vec::new();
    for (at, (line, code)) in lines.iter().enumerate() {
        for (tells, before) in TELLS {
            let Some((_, rest)) = code.split_once(tells) else { continue };
            let rest = lines[at + 1..].iter().take(4).fold(rest.trim().to_owned(), |all, (_, code)| all + code.trim());
            let told = rest.splitn(before + 1, ',').last().unwrap_or_default();
            if is_made(told.trim()) {
                found.push(*line);
            }
        }
        let is_named = ["let what = ", "let told = "].iter().any(|named| {
            let words = code.trim().strip_prefix(named);
            words.is_some_and(|words| words.starts_with("format!(") || words.starts_with('"'))
        });
        let tells = lines.iter().any(|(_, code)| code.contains(".notify_user(") || code.contains(".notice("));
        if is_named && tells {
            found.push(*line);
        }
    }
    found
}

#[test]
fn what_a_person_is_told_stands_in_the_tables() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.path.starts_with("src/") && !text.path.ends_with("/tests.rs")) {
        for line in untabled(text) {
            broken.push(format!("{}:{line}: make it a row of src/messages/notices.rs or to_people.rs", text.path));
        }
    }
    check(broken);
}

/// Where what an agent or a person reads while agents work is made.
const WRITERS: [&str; 3] = ["src/hook/", "src/engine/", "src/wire/"];

/// How many words a text has at least that is a sentence, and no word or two behind a value.
const SENTENCE: usize = 5;

/// Returns the texts in code that are whole sentences, each with its line. Texts that go on in a next line are read as one.
fn sentences(text: &Text) -> Vec<(usize, String)> {
    let tests = text.lines.iter().position(|line| line == "#[cfg(test)]").unwrap_or(text.lines.len());
    let mut found = Vec::new();
    let mut inside: Option<(usize, String)> = None;
    for (line, code) in text.code().filter(|(line, _)| *line <= tests) {
        let code = code.replace("'\"'", "").replace("\\\"", "");
        for (at, part) in code.split('"').enumerate() {
            if at > 0 {
                match inside.take() {
                    Some(whole) => found.push(whole),
                    None => inside = Some((line, String::new())),
                }
            }
            if let Some((_, words)) = &mut inside {
                words.push_str(if at == 0 { part.trim_start() } else { part });
            }
        }
        let goes_on = inside.as_mut().is_some_and(|(_, words)| words.ends_with('\\') && words.pop().is_some());
        inside = inside.filter(|_| goes_on);
    }
    found.retain(|(_, words)| {
        let is_word = |word: &&str| word.chars().all(|letter| letter.is_alphabetic() || ".,:;'`".contains(letter));
        words.trim_end().ends_with('.') && words.split_whitespace().filter(is_word).count() >= SENTENCE
    });
    found
}

#[test]
fn whole_sentences_stand_in_the_tables() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| WRITERS.iter().any(|folder| text.path.starts_with(folder))) {
        for (line, words) in sentences(text).into_iter().filter(|_| !text.path.contains("/tests")) {
            broken.push(format!("{}:{line}: make it a row of src/messages: {words}", text.path));
        }
    }
    check(broken);
}

#[test]
fn a_whole_sentence_is_found() {
    let of = |code: &str| {
        let lines = code.lines().map(str::to_owned).collect();
        sentences(&Text { path: "src/x.rs".to_owned(), lines }).len()
    };
    for (code, found) in [
        ("refuse(\"this call was not run: {why}. Try again.\")", 1),
        ("const WHY: &str = \"this call was not run, and \\\n    nothing else is tried.\";", 1),
        ("format!(\"{who} is at {what}.\")", 0),
        ("let name = \"a name of some words without an end\";", 0),
        ("// \"this call was not run at all.\"", 0),
    ] {
        assert_eq!(of(code), found, "{code}");
    }
}

#[test]
fn every_way_to_tell_is_looked_at() {
    let of =
        |code: &str| untabled(&Text { path: "src/x.rs".to_owned(), lines: code.lines().map(str::to_owned).collect() });
    for told in ["\"it is off\"", "&format!(\"{it} is off\")", "\n    \"it is off\",\n"] {
        assert_eq!(of(&format!("session.notify_user({told})")), [1], "{told}");
        assert_eq!(of(&format!("session.notify_user_once(&key, {told})")), [1], "{told}");
        assert_eq!(of(&format!("edit.notice({told})")), [1], "{told}");
    }
    assert_eq!(of("let what = format!(\"{it} is off\");\nsession.notify_user(&what);"), [1]);
    let rows = "session.notify_user(&notices::off_here());\nsession.notify_user_once(\"key\", &notices::on_again());";
    assert_eq!(of(rows), Vec::<usize>::new());
}
