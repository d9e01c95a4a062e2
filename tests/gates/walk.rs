//! ARCHITECTURE.md names every file of `src` that a PreToolUse enters, but for those that are entered everywhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::fixture::{Event, Fixture, feed};

const PAGE: &str = include_str!("../../ARCHITECTURE.md");
/// The sections that name them.
const SECTIONS: [&str; 2] = ["## The walk of one PreToolUse", "## What stands beside the walk"];
/// What is entered everywhere: the second section says so.
const EVERYWHERE: [&str; 3] = ["domain/", "limits/", "platform/"];
/// How the paths of our files begin in what callgrind writes.
const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

/// Returns the files that the sections name.
fn named() -> BTreeSet<&'static str> {
    let sections = PAGE.split("\n## ").filter(|text| SECTIONS.iter().any(|head| text.starts_with(&head[3..])));
    sections.flat_map(|text| text.split('`')).filter(|name| name.ends_with(".rs")).collect()
}

/// Returns the files that a call enters, by the lines of its functions in the debug build.
fn entered(fixture: &Fixture) -> BTreeSet<String> {
    let (hook, out) = (fixture.hook_command(), fixture.path("entered"));
    let mut command = fixture.command("valgrind");
    command.args(["--tool=callgrind", "--compress-strings=no", &format!("--callgrind-out-file={}", out.display())]);
    command.arg(hook.get_program()).args(hook.get_args());
    let output = feed(&mut command, &fixture.payload(Event::PreToolUse, 2048));
    assert!(output.status.success(), "the hook failed below valgrind: {}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(out).unwrap();
    let files =
        text.lines().filter_map(|line| line.split_once('=').filter(|(key, _)| ["fl", "fi", "fe"].contains(key)));
    let ours = files.filter_map(|(_, file)| file.strip_prefix(OURS).or_else(|| file.strip_prefix("src/")));
    ours.map(str::to_owned).collect()
}

#[test]
fn a_call_enters_no_file_that_architecture_does_not_name() {
    let fixture = Fixture::empty(Path::new(env!("CARGO_BIN_EXE_fusebox")));
    fixture.hooks(&[Event::SessionStart, Event::UserPromptSubmit, Event::PreToolUse]);
    fixture.write_transcript(8 << 10);
    fixture.hooks(&[Event::PostToolUse, Event::PostToolBatch]);
    let (entered, named) = (entered(&fixture), named());
    assert!(entered.len() > 100, "the debug build does not tell its files: {entered:?}");
    let is_named = |file: &str| named.contains(file) || EVERYWHERE.iter().any(|folder| file.starts_with(folder));
    let unnamed: Vec<&String> = entered.iter().filter(|file| !is_named(file)).collect();
    assert!(unnamed.is_empty(), "name what a call enters in ARCHITECTURE.md, {}: {unnamed:#?}", SECTIONS[1]);
}
