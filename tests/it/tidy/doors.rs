//! What leads outside is used in one folder: files, clock, environment and processes in `platform`, SQL in `store`.

use crate::tidy::{Text, check, paths, rust};

/// What leads outside, and the one place that may name it.
const DOORS: [(&str, &str); 12] = [
    ("std::fs", "src/platform/"),
    ("std::env", "src/platform/"),
    ("std::os", "src/platform/"),
    ("std::process", "src/platform/"),
    ("std::time::SystemTime", "src/platform/"),
    ("std::time::Instant", "src/platform/"),
    ("rustix", "src/platform/"),
    ("fs2", "src/platform/"),
    ("libc", "src/platform/"),
    ("signal_hook", "src/platform/"),
    ("windows_sys", "src/platform/"),
    ("rusqlite", "src/store/"),
];

/// Packages that one file alone speaks to, so that there is one of what they do.
const ONE_DOOR: [(&str, &str); 2] = [("jiff", "src/calendar.rs"), ("chrono", "src/domain/text/rfc3339.rs")];

/// What begins like a door and leads nowhere.
const HARMLESS: [&str; 1] = ["std::process::ExitCode"];

/// Other files that may name a door, and why.
const ELSEWHERE: [(&str, &str, &str); 1] =
    [("src/platform/allocator.rs", "rusqlite", "gives SQLite the memory of a short life")];

/// What in `src/install` reads JSON as strictly as it stands, and why: all else there is the client's, which takes more.
const STRICT: [(&str, &str); 3] = [
    ("src/install/installed_at.rs", "a note of Fusebox's own"),
    ("src/install/json.rs", "says where a text is no JSON, whatever its values"),
    ("src/install/settings_values.rs", "a table of Fusebox's own"),
];

/// How a statement of SQL begins.
const STATEMENTS: [&str; 8] =
    ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "REPLACE INTO", "PRAGMA ", "CREATE TABLE", "BEGIN IMMEDIATE"];

/// Returns the files of the program: whole files of test code are left out.
fn program() -> Vec<Text> {
    let is_program = |path: &str| path.starts_with("src/") && !path.ends_with("/tests.rs") && !path.contains("/tests/");
    rust().into_iter().filter(|text| is_program(&text.path)).collect()
}

/// Returns the doors that a file names, each with its line.
fn doors(text: &str) -> Vec<(&'static str, &'static str, usize)> {
    let mut found = Vec::new();
    for named in paths::all(text) {
        let path = named.path.join("::");
        let is_below = |root: &str| path == root || path.starts_with(&format!("{root}::"));
        if !HARMLESS.iter().any(|harmless| is_below(harmless)) {
            let named =
                DOORS.iter().filter(|(door, _)| is_below(door)).map(|(door, place)| (*door, *place, named.line));
            found.extend(named);
        }
    }
    found
}

fn may(path: &str, door: &str, place: &str) -> bool {
    path.starts_with(place) || ELSEWHERE.iter().any(|(file, named, _)| *file == path && *named == door)
}

#[test]
fn each_door_is_in_one_folder() {
    let mut broken = Vec::new();
    for text in program() {
        for (door, place, line) in doors(&text.lines.join("\n")) {
            if !may(&text.path, door, place) {
                broken.push(format!("{}:{line}: `{door}`: only {place} may: ask a function there", text.path));
            }
        }
    }
    check(broken);
}

#[test]
fn a_door_is_needed_where_it_may_be() {
    let texts = program();
    let is_named = |file: &str, door: &str| {
        let text = texts.iter().filter(|text| text.path.starts_with(file)).map(|text| text.lines.join("\n"));
        text.flat_map(|text| doors(&text)).any(|(named, ..)| named == door)
    };
    let places = DOORS.iter().map(|(door, place)| (*place, *door));
    let unneeded = places.chain(ELSEWHERE.iter().map(|(file, door, _)| (*file, *door)));
    let unneeded = unneeded.filter(|(file, door)| !is_named(file, door));
    check(unneeded.map(|(file, door)| format!("{file}: names no `{door}` any more: take out its row")).collect());
}

#[test]
fn sql_is_in_the_store() {
    let mut broken = Vec::new();
    for text in program().iter().filter(|text| !text.path.starts_with("src/store/")) {
        for (line, code) in text.code() {
            let words = STATEMENTS.iter().filter(|word| code.contains(&format!("\"{word}")));
            broken.extend(words.map(|word| format!("{}:{line}: `{word}`: only src/store/ holds SQL", text.path)));
        }
    }
    check(broken);
}

#[test]
fn a_door_is_seen_however_it_is_named() {
    let text = r#"
        use std::{fs, io, process::{Command, ExitCode}};
        use std::time::{Duration, Instant as Clock};
        fn f() -> ExitCode { std::env::temp_dir("std::fs"); rustix::fs::open(path); std::process::ExitCode::SUCCESS }
        #[cfg(test)]
        mod tests { use std::fs; }
    "#;
    let found: Vec<(&str, usize)> = doors(text).into_iter().map(|(door, _, line)| (door, line)).collect();
    let expected = [("std::fs", 2), ("std::process", 2), ("std::time::Instant", 3), ("std::env", 4), ("rustix", 4)];
    assert_eq!(found, expected);
}

#[test]
fn a_package_behind_one_door_is_used_there_alone() {
    let texts = rust();
    for (package, door) in ONE_DOOR {
        let named = [format!("{package}::"), format!("use {package};")];
        let uses = |text: &&Text| text.code().any(|(_, code)| named.iter().any(|name| code.contains(name)));
        let users = texts.iter().filter(|text| text.module().is_some()).filter(uses);
        assert_eq!(users.map(|text| text.path.as_str()).collect::<Vec<_>>(), [door], "{package}");
    }
}

#[test]
fn what_the_client_wrote_is_read_as_the_client_reads_it() {
    let mut broken = Vec::new();
    let files = program().into_iter().filter(|text| text.path.starts_with("src/install/"));
    for text in files.filter(|text| STRICT.iter().all(|(file, _)| *file != text.path)) {
        for (line, _) in text.code().filter(|(_, code)| code.contains("serde_json::from_")) {
            broken.push(format!(
                "{}:{line}: what does not parse here the client may take: use `javascript_json`",
                text.path
            ));
        }
    }
    check(broken);
}
