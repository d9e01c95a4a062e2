//! The story of each limit of the registry: the same events under many configurations.
//!
//! Each folder `tests/cases/limit-<key>` holds `events.jsonl` and `variants.json`, a configuration for each name. The part
//! of a name behind ` @ ` is what is told before the events, or another script of the folder. Of each variant the snapshot has what is wrong with its
//! configuration, the events that were answered, and how the runs ended.

use std::fmt::Write;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

use fusebox::config::load;
use fusebox::limits::REGISTRY;
use serde_json::{Map, Value};

use crate::stories::script_player::{Tells, tell};
use crate::stories::{cases, compare};

/// What the story of a limit has to show.
const VARIANTS: [&str; 11] = [
    "just under",
    "at",
    "over",
    "null",
    "wrong type",
    "out of range",
    "terminate",
    "pause",
    "warn",
    "request_increase",
    "observe",
];

/// What is told before the events.
const FIRST: [(&str, &str); 3] = [
    ("no", r#"{"at": 0, "does": "declines"}"#),
    ("unattended", r#"{"at": 0, "does": "unattended"}"#),
    ("below", r#"{"at": 0, "does": "below"}"#),
];

fn variants(folder: &Path) -> Map<String, Value> {
    let path = folder.join("variants.json");
    let written = fs::read_to_string(&path);
    assert!(
        written.is_ok(),
        "a limit has a story: {} and events.jsonl beside it; VARIANTS here says what it shows",
        path.display()
    );
    let text = written.unwrap();
    serde_json::from_str(&text).map_err(|cause| format!("{}: {cause}", path.display())).unwrap()
}

fn told(folder: &Path, name: &str, config: &Value) -> String {
    let mut told = format!("== {name}: {config}\n");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("fusebox.json");
    fs::write(&file, config.to_string()).unwrap();
    let (policy, problems) = load::only(&file).unwrap();
    let home = format!("{}{MAIN_SEPARATOR}", place.path().display());
    for problem in &problems {
        writeln!(told, "problem: {}", problem.to_string().replace(&home, "")).unwrap();
    }
    let behind = name.split_once(" @ ").map_or("events", |(_, behind)| behind);
    let first = FIRST.iter().find(|(name, _)| *name == behind);
    let script = first.map_or(behind, |_| "events");
    let events = fs::read_to_string(folder.join(format!("{script}.jsonl"))).unwrap();
    let events = first.map(|(_, line)| format!("{line}\n")).unwrap_or_default() + &events;
    told + &tell(&policy, &events, Tells::Answers) + "\n"
}

#[test]
fn every_limit_does_as_its_story_says() {
    let mut wrong = String::new();
    for limit in REGISTRY {
        let folder = cases().join(format!("limit-{limit}"));
        let told: String = variants(&folder).iter().map(|(name, config)| told(&folder, name, config)).collect();
        compare(&folder, &told, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_story_of_a_limit_leaves_nothing_out() {
    let mut missing = Vec::new();
    for limit in REGISTRY {
        let known = variants(&cases().join(format!("limit-{limit}")));
        let names: Vec<&str> = known.keys().map(|name| name.split(" @ ").next().unwrap_or_default()).collect();
        let lacks = VARIANTS.iter().filter(|variant| !names.contains(variant));
        missing.extend(lacks.map(|variant| format!("limit-{limit}: {variant}")));
    }
    assert!(missing.is_empty(), "variants.json lacks variants: {missing:#?}");
}

#[test]
fn no_story_is_of_a_limit_that_is_not_there() {
    let folders = fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let keys = folders.filter_map(|name| name.strip_prefix("limit-").map(str::to_owned));
    let strangers: Vec<String> = keys.filter(|key| REGISTRY.iter().all(|limit| limit.key != key)).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}
