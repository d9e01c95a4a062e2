//! What is missing on a system stands in `docs/platforms.md` as `doctor` says it there, and the other way round.

use std::fs;
use std::path::Path;

use fusebox::platform::lacks::{MACOS, WINDOWS};

const PAGE: &str = include_str!("../../docs/platforms.md");

/// Returns the first sentence of each point below a system's name.
fn missing_on(system: &str) -> Vec<String> {
    let section = PAGE.split_once("## What is missing").unwrap().1;
    let points = section.split_once(&format!("**{system}**\n")).unwrap().1.split("\n\n").next().unwrap();
    let points = points.strip_prefix("- ").unwrap().split("\n- ");
    let words = points.map(|point| point.split_whitespace().collect::<Vec<_>>().join(" "));
    words.map(|words| words.split(". ").next().unwrap().trim_end_matches('.').to_owned()).collect()
}

/// Returns a line of `doctor` as a sentence begins.
fn as_sentence(line: &str) -> String {
    let (first, rest) = line.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn what_is_missing_is_said_by_doctor_and_by_the_page() {
    assert_eq!(missing_on("macOS"), MACOS.map(as_sentence));
    assert_eq!(missing_on("Windows"), WINDOWS.map(as_sentence));
}

/// Adds the lines of all sources below a folder that begin a function or name a module.
fn named_below(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            named_below(&path, names);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let named = text.lines().filter(|line| line.contains("fn ") || line.contains("mod "));
            names.extend(named.map(str::to_owned));
        }
    }
}

#[test]
fn each_row_of_what_a_system_gives_has_a_command_that_finds_tests() {
    let mut names = Vec::new();
    for folder in ["src", "tests"] {
        named_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut names);
    }
    let given = PAGE.split_once("## What each system gives").unwrap().1.split_once("\n\n").unwrap().1;
    let of_windows = PAGE.split_once("| what | command |").unwrap().1;
    let rows = |table: &'static str| table.split("\n\n").next().unwrap().lines().filter(|row| !row.starts_with("|--"));
    let rows: Vec<&str> = rows(given).skip(1).chain(rows(of_windows).skip(1)).collect();
    assert!(rows.len() > 25, "{rows:#?}");
    let mut wrong = Vec::new();
    for row in rows {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let commands: Vec<&str> = cell.split('`').filter(|words| words.starts_with("cargo test ")).collect();
        let filters = commands.iter().map(|words| words.rsplit([' ', ':']).next().unwrap());
        wrong.extend(filters.filter(|filter| !names.iter().any(|name| name.contains(filter))).map(str::to_owned));
        if commands.is_empty() {
            wrong.push(row.to_owned());
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
