//! What is missing on a system stands in `docs/platforms.md` as `doctor` says it there, and the other way round.

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
