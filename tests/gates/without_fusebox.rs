//! What a repository's shared hooks cost on a machine without Fusebox: the shell looks once into each folder of the PATH, and starts
//! nothing.

use std::fs;
use std::process::Command;

use serde_json::Value;

/// What the shell calls to start a program.
const STARTS: [&str; 4] = ["execve(", "clone(", "clone3(", "vfork("];

/// Returns the lines that `init --scope project` registers, with their events.
fn shared_lines() -> Vec<(String, String)> {
    let example = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/hooks.example.json")).unwrap();
    let settings: Value = serde_json::from_str(&example).unwrap();
    let line = |group: &Value| group["hooks"][0]["command"].as_str().unwrap().to_owned();
    settings["hooks"].as_object().unwrap().iter().map(|(event, groups)| (event.clone(), line(&groups[0]))).collect()
}

#[test]
fn a_call_looks_once_into_each_folder_and_starts_nothing() {
    let world = tempfile::tempdir().unwrap();
    let folders: Vec<String> = (0..7).map(|number| format!("{}/{number}", world.path().display())).collect();
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    let (trace, path) = (world.path().join("trace"), format!("PATH={}", folders.join(":")));
    let client = format!("CLAUDE_CONFIG_DIR={}", world.path().display());
    let lines = shared_lines();
    assert!(lines.len() > 10 && lines.iter().any(|(event, _)| event == "SessionStart"), "{lines:?}");
    // Of two session starts, the first says what is missing.
    let start = lines.iter().find(|(event, _)| event == "SessionStart").cloned();
    for (event, line) in lines.into_iter().chain(start) {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=%file,%process", "-E", &path, "-E", &client, "-o"]).arg(&trace);
        let output = command.args(["/bin/sh", "-c", &line]).output().unwrap();
        assert!(output.status.success(), "{event}: {output:?}");
        let calls = fs::read_to_string(&trace).unwrap();
        let looks = |folder: &String| calls.matches(&format!("\"{folder}/fusebox\"")).count();
        assert_eq!(folders.iter().map(looks).collect::<Vec<_>>(), vec![1; folders.len()], "{event}: {calls}");
        let started = STARTS.iter().map(|start| calls.matches(start).count()).sum::<usize>();
        assert_eq!(started, 1, "the shell alone: {event}: {calls}");
    }
}
