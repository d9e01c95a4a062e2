//! What agents and people write is not kept: nothing of the recordings' prompts, commands and results is in the state or the log.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::TestWorld;

/// The fields of a hook's input that hold what somebody has written, or what came of it.
const WRITTEN: [&str; 11] = [
    "prompt",
    "command",
    "description",
    "content",
    "old_string",
    "new_string",
    "stdout",
    "stderr",
    "error",
    "message",
    "last_assistant_message",
];
/// Shorter texts are in anything.
const SHORTEST: usize = 12;

/// Collects the texts that stand in such fields; what goes on in the background is kept until it has ended.
fn written(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) if fields.get("run_in_background") == Some(&Value::Bool(true)) => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if WRITTEN.contains(&name.as_str()) && text.len() >= SHORTEST => {
                        found.push(text.clone());
                    }
                    value => written(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| written(value, found)),
        _ => {}
    }
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Says if a file holds a text, but for where a message names by it the command that repeats: that is kept, cut to a few words.
fn holds(file: &str, text: &str) -> bool {
    let named = |at: usize| file[..at].trim_end_matches(['"', '\\']).ends_with("Bash ");
    file.match_indices(text).any(|(at, _)| !named(at))
}

#[test]
fn what_is_written_in_a_session_is_not_kept() {
    let recordings = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).unwrap();
    let mut looked_for = 0;
    for recording in recordings.map(|entry| entry.unwrap().path().join("hooks.jsonl")).filter(|path| path.exists()) {
        let world = TestWorld::with_git();
        world.write("project/.claude/fusebox.json", r#"{"main": {"max_turns": 3}, "agents": {"*": {"max_turns": 2}}}"#);
        let mut texts = Vec::new();
        for line in fs::read_to_string(&recording).unwrap().lines() {
            let input: Value = serde_json::from_str::<Value>(line).unwrap()["input"].clone();
            written(&input, &mut texts);
            let _answer = world.hook(&input).ok();
        }
        let kept = files(&world.path("state")).into_iter().chain(files(&world.path("project/.claude/logs")));
        let kept: Vec<String> =
            kept.map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()).collect();
        assert!(kept.iter().any(|file| file.contains("CREATE TABLE session")), "the state is there");
        looked_for += texts.len();
        for text in texts {
            assert!(!kept.iter().any(|file| holds(file, &text)), "{}: {text}", recording.display());
        }
    }
    assert!(looked_for > 100, "{looked_for}");
}

/// Of a prompt that starts an agent the limits and the number of its task are kept, until the agent has begun and after.
#[test]
fn of_a_prompt_that_starts_an_agent_its_limits_alone_are_kept() {
    let world = TestWorld::new();
    let event = |name: &str, rest: &Value| world.hook(world.event("s1", "p1", name, rest)).ok();
    event("SessionStart", &serde_json::json!({"source": "startup"}));
    event("UserPromptSubmit", &serde_json::json!({"prompt": "go"}));
    let secret = "the secret of the merger";
    let prompt = format!("Task ID: #41\n{secret}\nexecution_limits: {{ max_turns: 3 }}\n{secret}");
    let input = serde_json::json!({"subagent_type": "developer", "description": "d", "prompt": prompt});
    event("PreToolUse", &serde_json::json!({"tool_name": "Agent", "tool_use_id": "t1", "tool_input": input}));
    let is_kept = |text: &str| {
        let kept = files(&world.path("state")).into_iter().filter_map(|path| fs::read(path).ok());
        kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).any(|file| file.contains(text))
    };
    assert!(!is_kept(secret) && is_kept("max_turns"), "before it has begun");
    world.write("s1/subagents/agent-a1.meta.json", r#"{"agentType":"developer","toolUseId":"t1","spawnDepth":1}"#);
    let who = serde_json::json!({"agent_id": "a1", "agent_type": "developer"});
    event("SubagentStart", &who);
    let call = serde_json::json!({"agent_id": "a1", "agent_type": "developer", "tool_name": "Read", "tool_input": {}, "tool_use_id": "c1"});
    event("PreToolUse", &call);
    assert!(!is_kept(secret), "once it has begun");
    let status: Value = serde_json::from_str(&world.run(&["status", "--json"]).ok()).unwrap();
    let runs = status["sessions"][0]["runs"].as_array().unwrap();
    let run = runs.iter().find(|run| run["run_id"] == "a1").unwrap();
    let cap = run["limits"].as_array().unwrap().iter().find(|limit| limit["limit"] == "max_turns").unwrap();
    assert_eq!((&cap["cap"], &cap["layer"]), (&serde_json::json!(3), &serde_json::json!("spawn")), "{run}");
}
