//! The house rules as tests. Each says where a rule is broken, as `file:line`, and what to do about it.

mod circles;
mod doors;
mod hints;
mod layers;
mod limit_keys;
mod messages;
mod paths;
mod sizes;
mod tests;
mod unsafe_code;
mod walk;
mod words;

use std::fs;
use std::path::Path;

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

/// Returns the Rust files.
fn rust() -> Vec<Text> {
    tree().into_iter().filter(Text::is_rust).collect()
}

/// Returns the Rust files but for the one with a rule, which names what it forbids.
fn rust_besides(rule: &str) -> Vec<Text> {
    let texts = rust();
    assert!(texts.iter().any(|text| text.path == rule), "there is no {rule}");
    texts.into_iter().filter(|text| text.path != rule).collect()
}

fn check(broken: Vec<String>) {
    assert!(broken.is_empty(), "{} broken house rules:\n  {}", broken.len(), broken.join("\n  "));
}
