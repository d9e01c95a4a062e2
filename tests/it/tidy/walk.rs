//! The walk of one event through the house, as ARCHITECTURE.md tells it.

use std::collections::BTreeSet;

use crate::tidy::{Text, check, tree};

/// The section that tells it.
const SECTION: &str = "## The walk of one PreToolUse";
/// The section that names the other files that a call enters.
const BESIDE: &str = "## What stands beside the walk";
/// The file whose steps it follows.
const RECIPE: &str = "src/hook/mod.rs";

fn lines<'a>(tree: &'a [Text], path: &str) -> &'a [String] {
    &tree.iter().find(|text| text.path == path).unwrap().lines
}

/// Returns the files that the steps of the section name, in order, each with its line.
fn walk(tree: &[Text]) -> Vec<(usize, String)> {
    // Where the steps end, other events are told of.
    let steps = section(tree, SECTION).take_while(|(_, line)| !line.starts_with("Other events"));
    files(steps.skip_while(|(_, line)| !line.starts_with("1. ")))
}

/// Returns the numbered lines of a section.
fn section<'a>(tree: &'a [Text], head: &str) -> impl Iterator<Item = (usize, &'a String)> {
    let lines = lines(tree, "ARCHITECTURE.md");
    let begins = lines.iter().position(|line| line == head).unwrap() + 1;
    lines.iter().enumerate().skip(begins).take_while(|(_, line)| !line.starts_with("## "))
}

/// Returns the files that lines name, each with its line.
fn files<'a>(lines: impl Iterator<Item = (usize, &'a String)>) -> Vec<(usize, String)> {
    let names = lines.flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |name| (at + 1, name)));
    names.filter(|(_, name)| name.ends_with(".rs")).map(|(at, name)| (at, format!("src/{name}"))).collect()
}

/// Returns the files of the steps that the recipe calls, in order.
fn steps(tree: &[Text]) -> Vec<String> {
    let body = lines(tree, RECIPE).iter().skip_while(|line| !line.starts_with("pub fn respond("));
    let calls = body.filter_map(|line| {
        let called = line.split(" = ").nth(1)?.trim_start_matches("Some(answer) = ");
        let (module, _) = called.split_once("::")?;
        module.chars().all(|c| c.is_ascii_lowercase() || c == '_').then(|| format!("src/hook/{module}.rs"))
    });
    calls.collect()
}

#[test]
fn the_walk_names_each_file_once_and_follows_the_recipe() {
    let tree = tree();
    let (walk, mut broken, mut seen) = (walk(&tree), Vec::new(), BTreeSet::new());
    let beside = files(section(&tree, BESIDE));
    for (line, path) in walk.iter().chain(&beside) {
        if !tree.iter().any(|text| text.path == *path) {
            broken.push(format!("ARCHITECTURE.md:{line}: there is no {path}"));
        }
        if !seen.insert(path) {
            broken.push(format!("ARCHITECTURE.md:{line}: {path} is passed a second time: say all of it at one place"));
        }
    }
    let steps = steps(&tree);
    assert!(steps.len() >= 6, "{steps:?}");
    let told: Vec<&String> = walk.iter().map(|(_, path)| path).filter(|path| steps.contains(path)).collect();
    if told != steps.iter().collect::<Vec<_>>() {
        broken.push(format!("ARCHITECTURE.md: the steps are {steps:?}, and it tells of {told:?}"));
    }
    check(broken);
}
