//! What tests are held to: a test owns its world, and each story is told.

use std::fs;
use std::path::Path;

use crate::tidy::{check, rust, rust_besides};

/// What clippy would forbid in tests, too, if they did not lay files: a test owns its clock, its environment and its processes.
const NOT_OWN: [&str; 5] = ["env::var(", "env::var_os(", "Instant::now(", "SystemTime::now(", "thread::sleep("];

#[test]
fn tests_own_their_world() {
    let mut broken = Vec::new();
    for text in rust_besides(file!()).iter().filter(|text| text.path.starts_with("tests/it/")) {
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
