//! A recording of the real client, played through the hooks up to one of its moments: as it stood then, not as it ended.

use std::fs;
use std::path::Path;

use fusebox::domain::text::rfc3339;
use serde_json::Value;

use crate::given::GivenTime;
use crate::world::TestWorld;

/// How long the client takes to write a prompt down once its hook has answered, in milliseconds.
const WRITES_IN_MS: i64 = 20;

/// A line of a transcript: when the client wrote it, to which file, and what.
struct Row {
    at_ms: i64,
    file: String,
    text: String,
}

/// Plays the first events of a recording at the moments that they came at; a later moment of the test's stays. Returns the session.
pub fn play(world: &TestWorld, time: &mut GivenTime, name: &str, events: usize) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let (mut rows, mut session) = (Vec::new(), String::new());
    read(world, &folder.join("transcripts"), "home/.claude/projects/-project", &mut rows);
    rows.sort_by_key(|row| row.at_ms);
    let text = fs::read_to_string(folder.join("hooks.jsonl")).unwrap();
    let calls: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_prompt = calls.iter().find(|call| call["input"]["hook_event_name"] == "UserPromptSubmit").unwrap();
    let first = rows.iter().find(|row| row.text.contains(r#""type":"user""#)).unwrap();
    let began_ms = first.at_ms - WRITES_IN_MS - of_prompt["at_ms"].as_i64().unwrap();
    let mut rows = rows.into_iter().peekable();
    for call in &calls[..events] {
        let at_ms = began_ms + call["at_ms"].as_i64().unwrap();
        time.pass_ms((at_ms - time.now_ms()).max(0));
        while let Some(row) = rows.next_if(|row| row.at_ms <= at_ms) {
            world.append(&row.file, row.text);
        }
        call["input"]["session_id"].as_str().unwrap().clone_into(&mut session);
        let (home, project) = (world.path("home"), world.path("project"));
        let input = call["input"].to_string();
        time.hook(input.replace("$HOME", &home.to_string_lossy()).replace("$PROJECT", &project.to_string_lossy()));
    }
    session
}

/// Reads the transcripts below a folder into rows for a place in the world; what is no transcript is there from the start.
fn read(world: &TestWorld, from: &Path, to: &str, rows: &mut Vec<Row>) {
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let file = format!("{to}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            read(world, &path, &file, rows);
        } else if is_transcript(&path) {
            rows.extend(rows_of(&path, &file));
        } else {
            world.write(&file, fs::read_to_string(&path).unwrap());
        }
    }
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Returns the lines of a transcript; those without a time of their own were written with the one before.
fn rows_of(path: &Path, file: &str) -> Vec<Row> {
    let (text, mut at_ms) = (fs::read_to_string(path).unwrap(), i64::MIN);
    let row = |line: &str| {
        let read: Value = serde_json::from_str(line).unwrap();
        at_ms = read["timestamp"].as_str().and_then(rfc3339::parse).unwrap_or(at_ms);
        Row { at_ms, file: file.to_owned(), text: format!("{line}\n") }
    };
    text.lines().map(row).collect()
}
