//! The house rules as tests. Each says where a rule is broken, as `file:line`, and what to do about it.

mod circles;
mod doors;
mod limit_keys;
mod paths;
mod walk;

use std::fs;
use std::path::Path;

/// Which folders of `src` a folder may name in `crate::…`, besides itself.
/// `main.rs`, `lib.rs` and `error.rs` stand for themselves.
const MAY_USE: [(&str, &[&str]); 24] = [
    ("domain", &[]),
    ("limits", &["domain"]),
    ("messages", &["domain"]),
    ("engine", &["domain", "limits", "messages"]),
    ("team", &["domain"]),
    ("config", &["calendar", "domain", "engine", "error", "limits"]),
    ("pricing", &["calendar", "domain", "error", "platform"]),
    ("wire", &["byte_search", "domain", "limits", "messages", "ui"]),
    ("transcript", &["byte_search", "domain", "engine", "error", "messages", "platform", "pricing", "wire"]),
    ("store", &["domain", "engine", "error", "limits", "platform", "team", "ui"]),
    ("report", &["calendar", "domain", "engine", "limits", "messages", "ui", "wire"]),
    ("alerts", &["domain", "limits", "messages", "report", "ui", "wire"]),
    ("screen", &["calendar", "domain", "messages", "report", "ui", "wire"]),
    (
        "replay",
        &["byte_search", "config", "domain", "engine", "error", "platform", "pricing", "transcript", "ui", "wire"],
    ),
    (
        "hook",
        &[
            "byte_search",
            "calendar",
            "config",
            "domain",
            "engine",
            "error",
            "install",
            "messages",
            "platform",
            "pricing",
            "store",
            "transcript",
            "ui",
            "wire",
        ],
    ),
    ("upkeep", &["calendar", "domain", "engine", "error", "hook", "platform", "store", "transcript"]),
    ("install", &["config", "domain", "error", "platform", "replay", "store", "ui", "wire"]),
    ("doctor", &["config", "domain", "error", "hook", "install", "platform", "pricing", "store", "ui", "wire"]),
    (
        "cmd",
        &[
            "alerts",
            "calendar",
            "config",
            "doctor",
            "domain",
            "engine",
            "error",
            "hook",
            "install",
            "messages",
            "platform",
            "pricing",
            "replay",
            "report",
            "screen",
            "store",
            "team",
            "transcript",
            "ui",
            "upkeep",
            "wire",
        ],
    ),
    ("platform", &["domain", "error", "ui"]),
    ("calendar", &["domain"]),
    ("byte_search", &[]),
    ("ui", &["calendar", "domain"]),
    ("error", &["ui"]),
];

/// The folders that decide: same input, same output.
const PURE: [&str; 14] = [
    "alerts",
    "domain",
    "messages",
    "limits",
    "engine",
    "team",
    "wire",
    "config",
    "pricing",
    "report",
    "screen",
    "ui",
    "calendar",
    "byte_search",
];

/// What would make them depend on anything else.
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant",
    "rusqlite",
    "crate::platform",
];

/// The files of pure folders that may touch the world all the same, and why.
const EXCEPT: [(&str, &str); 2] = [
    ("src/config/load.rs", "reads the layers' files for the rest of the folder"),
    ("src/pricing/mod.rs", "reads a person's own prices for the rest of the folder"),
];

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

/// Packages that one file alone speaks to, so that there is one of what they do.
const ONE_DOOR: [(&str, &str); 2] = [("jiff", "src/calendar.rs"), ("chrono", "src/domain/rfc3339.rs")];

/// Words that the code has grown out of, and what the thing is called now.
const OUTGROWN: [(&str, &str); 9] = [
    ("book", "SessionState, `state`"),
    ("pool", "SharedBudget, `shared_budget`"),
    ("pools", "`shared_budgets`"),
    ("tally", "Counters, `counters`"),
    ("tallies", "`counters`"),
    ("roster", "registry"),
    ("intake", "TranscriptIngest, `ingest`"),
    ("handed_down", "`inherited_budget`"),
    ("|want|", "a pending trip: `|trip|`"),
];

/// Names that say nothing.
const EMPTY_NAMES: [&str; 5] = ["util", "utils", "helpers", "common", "manager"];

/// The largest file of `src`, of tests, function and `main.rs`, in lines.
const LONGEST_FILE: usize = 350;
const LONGEST_TEST: usize = 400;
const LONGEST_FUNCTION: usize = 60;
const LONGEST_MAIN: usize = 40;

/// One text file of the tree.
pub struct Text {
    /// Its path from the root of the tree.
    pub path: String,
    /// Its lines.
    pub lines: Vec<String>,
}

impl Text {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns the folder or file of `src` it belongs to, `engine` for `src/engine/decide.rs`.
    fn module(&self) -> Option<&str> {
        self.path.strip_prefix("src/")?.split(['/', '.']).next()
    }

    /// Returns the numbered lines that are no comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate().map(|(at, line)| (at + 1, line.as_str()));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Reads every text file of the tree; what git does not track is left out by name.
pub fn tree() -> Vec<Text> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    collect(root, root, &mut texts);
    texts.sort_by(|one, other| one.path.cmp(&other.path));
    texts
}

fn collect(root: &Path, folder: &Path, texts: &mut Vec<Text>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        // In a worktree of git it is a file.
        if name == ".git" {
            continue;
        }
        if path.is_dir() {
            if !name.starts_with("target") {
                collect(root, &path, texts);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push(Text { path: name, lines: text.lines().map(str::to_owned).collect() });
        }
    }
}

/// Returns the Rust files, but for this one, which names what it forbids.
fn rust() -> Vec<Text> {
    tree().into_iter().filter(|text| text.is_rust() && !text.path.ends_with("it/tidy.rs")).collect()
}

fn check(broken: Vec<String>) {
    assert!(broken.is_empty(), "{} broken house rules:\n  {}", broken.len(), broken.join("\n  "));
}

#[test]
fn a_folder_uses_only_the_folders_it_may() {
    let mut broken = Vec::new();
    for text in rust() {
        let Some(module) = text.module().filter(|module| !["main", "lib"].contains(module)) else { continue };
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            broken.push(format!("{}: give `{module}` a row in MAY_USE of tests/it/tidy.rs", text.path));
            continue;
        };
        for named in paths::of(&[module.to_owned()], &text.lines.join("\n"), true) {
            let used = named.path[0].as_str();
            let excepted = used == "platform" && is_excepted(&text);
            if used != module && !excepted && !allowed.contains(&used) {
                let what = format!("`{module}` may not use `{used}`: move the code, or pass in what it needs");
                broken.push(format!("{}:{}: {what}", text.path, named.line));
            }
        }
    }
    check(broken);
}

#[test]
fn what_decides_touches_nothing() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.module().is_some_and(|module| PURE.contains(&module))) {
        for (line, code) in text.code().filter(|_| !is_excepted(text)) {
            for word in IMPURE.iter().filter(|word| code.contains(**word)) {
                broken.push(format!(
                    "{}:{line}: `{word}` in a pure folder: the caller reads it and passes it in",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

fn is_excepted(text: &Text) -> bool {
    EXCEPT.iter().any(|(path, _)| *path == text.path)
}

#[test]
fn every_exception_is_needed() {
    let texts = rust();
    let needed = |path: &str| {
        let text = texts.iter().find(|text| text.path == path)?;
        text.code().find(|(_, code)| IMPURE.iter().any(|word| code.contains(word)))
    };
    let unneeded = EXCEPT.iter().filter(|(path, _)| needed(path).is_none());
    check(
        unneeded
            .map(|(path, _)| format!("{path}: is pure by now; take it out of EXCEPT in tests/it/tidy.rs"))
            .collect(),
    );
}

#[test]
fn every_file_says_what_it_is() {
    let silent = rust().into_iter().filter(|text| !text.lines.first().is_some_and(|line| line.starts_with("//! ")));
    check(
        silent.map(|text| format!("{}:1: begin with `//!` and a sentence on what this file is", text.path)).collect(),
    );
}

#[test]
fn files_are_short() {
    let long = rust().into_iter().filter_map(|text| {
        let most = match text.module() {
            Some("main") => LONGEST_MAIN,
            Some(_) => LONGEST_FILE,
            None => LONGEST_TEST,
        };
        let lines = text.lines.len();
        (lines > most).then(|| format!("{}:{most}: {lines} lines, at most {most}: split it by idea", text.path))
    });
    check(long.collect());
}

#[test]
fn functions_fit_on_a_screen() {
    let mut broken = Vec::new();
    for text in rust() {
        for (start, line) in text.code().filter(|(_, line)| opens_function(line)) {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let lines = text.lines[start..].iter().position(|line| *line == end).map_or(1, |body| body + 2);
            if lines > LONGEST_FUNCTION {
                broken.push(format!(
                    "{}:{start}: {lines} lines, at most {LONGEST_FUNCTION}: give the steps names of their own",
                    text.path
                ));
            }
        }
    }
    check(broken);
}

/// Whether a line begins a function whose body is on lines of its own, as rustfmt writes it.
fn opens_function(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches("pub(crate) ");
    let words = words.trim_start_matches("pub ").trim_start_matches("const ").trim_start_matches("async ");
    words.starts_with("fn ") && !line.ends_with('}') && !line.ends_with(';')
}

#[test]
fn banned_words_stay_out() {
    let mut broken = Vec::new();
    for text in rust() {
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
    for text in rust() {
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
fn a_package_behind_one_door_is_used_there_alone() {
    let texts = rust();
    for (package, door) in ONE_DOOR {
        let named = [format!("{package}::"), format!("use {package};")];
        let uses = |text: &&Text| text.code().any(|(_, code)| named.iter().any(|name| code.contains(name)));
        let users = texts.iter().filter(|text| text.module().is_some()).filter(uses);
        assert_eq!(users.map(|text| text.path.as_str()).collect::<Vec<_>>(), [door], "{package}");
    }
}

/// What clippy would forbid in tests, too, if they did not lay files: a test owns its clock, its environment and its processes.
const NOT_OWN: [&str; 5] = ["env::var(", "env::var_os(", "Instant::now(", "SystemTime::now(", "thread::sleep("];

#[test]
fn tests_own_their_world() {
    let mut broken = Vec::new();
    for text in rust().iter().filter(|text| text.path.starts_with("tests/it/")) {
        // Where a file says why, clippy has seen it.
        let says_why = text.lines.iter().any(|line| line.starts_with("#[expect(clippy::disallowed_methods"));
        for (line, code) in text.code().filter(|_| !says_why) {
            for word in NOT_OWN.iter().filter(|word| code.contains(**word)) {
                broken.push(format!("{}:{line}: `{word}…)` in a test: pass in what it needs", text.path));
            }
        }
    }
    check(broken);
}

/// The files with unsafe code; each says why.
const UNSAFE: [&str; 6] = [
    "src/platform/allocator.rs",
    "src/platform/macos.rs",
    "src/platform/streams/linux.rs",
    "src/platform/windows.rs",
    "src/platform/windows/jobs.rs",
    "src/platform/windows/table.rs",
];

#[test]
fn unsafe_code_is_in_few_files() {
    let mut broken = Vec::new();
    for text in rust() {
        let is_unsafe = |code: &str| code.split(|c: char| !c.is_alphanumeric()).any(|word| word == "unsafe");
        let lines: Vec<usize> = text.code().filter(|(_, code)| is_unsafe(code)).map(|(line, _)| line).collect();
        if UNSAFE.contains(&text.path.as_str()) {
            assert!(!lines.is_empty(), "{} is safe by now: change UNSAFE in tests/it/tidy.rs", text.path);
            assert!(
                text.lines.iter().any(|line| line == "#![deny(clippy::undocumented_unsafe_blocks)]"),
                "{}",
                text.path
            );
        } else {
            broken.extend(lines.iter().map(|line| {
                format!("{}:{line}: unsafe code: there is a safe way, or it belongs in {UNSAFE:?}", text.path)
            }));
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

#[test]
fn every_story_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let told: String =
        rust().iter().filter(|text| text.path.starts_with("tests/it/")).flat_map(|text| text.lines.clone()).collect();
    let stories = fs::read_dir(&root).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let names = stories.map(|name| name.into_string().unwrap());
    // The stories of limits are told by the registry.
    let untold = names.filter(|name| !name.starts_with("limit-") && !told.contains(&format!("\"{name}\"")));
    check(
        untold
            .map(|name| format!("tests/cases/{name}: no test names it: run it from tests/it, or take it out"))
            .collect(),
    );
}
