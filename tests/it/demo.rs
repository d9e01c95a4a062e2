//! `fusebox demo`: the recording in the program is the one in `demo/`, and is told as that is.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::world::TestWorld;

const SESSION: &str = "abff7565-c873-46ad-b117-4753ef25123f";

/// Keys of a transcript's rows that no reader of ours needs, and that differ in each row.
const UNREAD: [&str; 3] = ["uuid", "parentUuid", "requestId"];

/// Returns the transcripts of the recording as the program has them: each file's name and rows.
fn rows() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/runaway/transcripts");
    let below = fs::read_dir(folder.join(SESSION).join("subagents")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = below.map(|name| format!("{SESSION}/subagents/{}", name.to_str().unwrap())).collect();
    names.push(format!("{SESSION}.jsonl"));
    names.sort();
    let file = |name: &String| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let rows = text.lines().map(|line| {
            let mut row: Map<String, Value> = serde_json::from_str(line).unwrap();
            row.retain(|key, _| !UNREAD.contains(&key.as_str()));
            serde_json::to_string(&row).unwrap() + "\n"
        });
        format!("{name}\n{}", rows.collect::<String>())
    };
    names.iter().map(file).collect::<Vec<_>>().join("\u{1e}")
}

#[test]
fn the_recording_in_the_program_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/runaway.lz4");
    let rows = rows();
    if fusebox::platform::environment::Environment::real().var("FUSEBOX_REGENERATE").is_some() {
        fs::write(&path, lz4_flex::compress_prepend_size(rows.as_bytes())).unwrap();
    }
    let packed = fs::read(&path).unwrap();
    let unpacked = lz4_flex::decompress_size_prepended(&packed).unwrap();
    assert!(String::from_utf8(unpacked).unwrap() == rows, "FUSEBOX_REGENERATE=1 cargo test --test it demo writes it");
    assert!(packed.len() < 16_000, "{}: it is in every program", packed.len());
}

#[test]
fn the_demo_tells_what_a_replay_of_the_recording_tells() {
    let world = TestWorld::new();
    let said = world.run(&["demo"]).ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let recording = root.join(format!("runaway/transcripts/{SESSION}.jsonl")).display().to_string();
    let policy = root.join("fusebox.json").display().to_string();
    let replayed = world.run(&["replay", &recording, "--config", &policy]).ok();
    assert!(said.contains(&replayed), "{said}\n{replayed}");
    assert!(replayed.contains("57 tool calls, 57 requests, 2.96 USD"), "{replayed}");
    assert!(said.ends_with("`fusebox init`\n"), "{said}");
    assert!(said.lines().count() <= 48, "two screens: {said}");
    assert_eq!(world.files("state") + &world.files("project") + &world.files("home"), "", "it leaves nothing");
}

#[test]
fn the_demo_fits_the_terminal() {
    let world = TestWorld::new();
    for columns in ["80", "120"] {
        let said = world.command(&["demo"]).env("COLUMNS", columns).run().ok();
        let most = columns.parse::<usize>().unwrap();
        let wide: Vec<&str> = said.lines().filter(|line| line.chars().count() > most).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }
}
