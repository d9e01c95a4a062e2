//! ARCHITECTURE.md names every file of `src` that a PreToolUse enters, but for those that are entered everywhere. None is of an optional
//! part: what brings a team, a screen or a replay costs a call nothing.

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
    let (mut entered, mut of_function, mut misread) = (BTreeSet::new(), "", "");
    for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
        let file = value.strip_prefix(OURS).or_else(|| value.strip_prefix("src/")).unwrap_or_default();
        match key {
            "fl" => of_function = file,
            "fn" if is_of(value, of_function) => {
                entered.insert(of_function.to_owned());
            }
            "fn" => misread = of_function,
            "fi" | "fe" if file != misread => {
                entered.insert(file.to_owned());
            }
            _ => {}
        }
    }
    entered.remove("");
    entered
}

/// Whether a function may stand in a file: callgrind takes some for those of the file before, depending on what is compiled together.
fn is_of(function: &str, file: &str) -> bool {
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    !function.starts_with("fusebox::") || ["lib", "main"].contains(&module.as_str()) || function.contains(&module)
}

/// Returns the files and folders of `src` that a build without optional parts does not have: their modules say so.
fn optional(folder: &Path, place: &str, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            optional(&path, &format!("{place}{name}/"), into);
        } else if ["mod.rs", "lib.rs"].contains(&name.as_str()) {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let pairs = lines.windows(2).filter(|pair| pair[0].starts_with("#[cfg(feature"));
            let modules = pairs.filter_map(|pair| pair[1].trim_start_matches("pub ").strip_prefix("mod "));
            into.extend(modules.map(|name| format!("{place}{}", name.trim_end_matches(';'))));
        }
    }
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
    let mut parts = Vec::new();
    optional(Path::new(OURS), "", &mut parts);
    assert!(parts.len() > 20, "the modules of optional parts are not found: {parts:?}");
    let is_optional = |file: &&String| {
        parts.iter().any(|part| **file == format!("{part}.rs") || file.starts_with(&format!("{part}/")))
    };
    let costly: Vec<&String> = entered.iter().filter(is_optional).collect();
    assert!(costly.is_empty(), "an optional part is on the path of a call: {costly:#?}");
    let unnamed: Vec<&String> = entered.iter().filter(|file| !is_named(file)).collect();
    assert!(unnamed.is_empty(), "name what a call enters in ARCHITECTURE.md, {}: {unnamed:#?}", SECTIONS[1]);
}
