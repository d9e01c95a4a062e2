//! Hooks that change a call after it was looked at: what ran is judged at the end of the call.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::missing_usage::Story;

const HARMLESS: &str = "ls";
/// What the guard refuses, by tool: what the agent asks for, and what runs.
const REFUSED: [(&str, &str, &str, &str); 6] = [
    ("Bash", "command", HARMLESS, "claude --bare -p 'go on'"),
    ("Bash", "command", "claude --version", "CLAUDE_CODE_SAFE_MODE=1 claude -p hello"),
    ("Bash", "command", "fusebox status", "fusebox grant s1 max_turns=+50"),
    ("Bash", "command", HARMLESS, "echo '{}' > .claude/fusebox.json"),
    ("Monitor", "command", "tail -f log", "pkill -9 fusebox"),
    ("Write", "file_path", "notes.md", ".claude/fusebox.json"),
];

fn call(tool: &str, key: &str, text: &str, id: &str) -> Value {
    json!({"tool_name": tool, "tool_input": {key: text}, "tool_use_id": id, "tool_response": {}})
}

/// Plays a call that is asked for with one text and runs with another, in these folders; returns what was answered.
fn plays(story: &Story, (tool, key): (&str, &str), texts: [&str; 2], folders: [&str; 2]) -> String {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let id = format!("t{}", CALLS.fetch_add(1, Ordering::Relaxed));
    let at = |text: &str, folder: &str| {
        let mut input = call(tool, key, text, &id);
        input["cwd"] = json!(story.world.path(folder));
        input
    };
    let answer = story.event("PreToolUse", &at(texts[0], folders[0]));
    if answer.contains("deny") {
        return answer;
    }
    let over = at(texts[1], folders[1]);
    story.event("PostToolUse", &over) + &story.event("PostToolBatch", &json!({"tool_calls": [over]}))
}

const HERE: [&str; 2] = ["project", "project"];

#[test]
fn what_a_hook_changes_into_something_refused_ends_commands_and_writes() {
    for (tool, key, asked, ran) in REFUSED {
        let story = Story::begin(&json!({}));
        story.write(&["m0"]);
        let told = plays(&story, (tool, key), [asked, ran], HERE);
        assert!(told.contains("changed a call into one that is refused"), "{ran}: {told}");
        let read = story.event("PreToolUse", &call("Read", "file_path", "notes.md", "r"));
        assert!(!read.contains("deny"), "{ran}: {read}");
        for (tool, key) in [("Bash", "command"), ("Write", "file_path")] {
            let answer = plays(&story, (tool, key), [HARMLESS; 2], HERE);
            assert!(answer.contains("deny") && answer.contains("fusebox reload"), "{ran}: {answer}");
        }
        story.world.run(&["reload", "--all"]).ok();
        let after = plays(&story, ("Bash", "command"), [HARMLESS; 2], HERE);
        assert!(!after.contains("deny"), "{ran}: {after}");
    }
}

#[test]
fn calls_that_run_as_they_were_let_through_change_nothing() {
    let wrapped = ["git commit -m 'claude --bare is refused'", "rtk git commit -m 'claude --bare is refused'"];
    let copied = ["cp a.json .claude/fusebox.json && cd ../..", "cp a.json .claude/fusebox.json && cd ../.."];
    for (texts, folders) in [
        ([HARMLESS, "ls -l"], HERE),
        (wrapped, HERE),
        // Another project's policy, from whose folder the command leads back here.
        (copied, ["project/examples/one", "project"]),
        (["fusebox status --me", "fusebox status --me=s1/p1"], HERE),
    ] {
        let mut story = Story::begin(&json!({}));
        let project = story.world.path("project");
        story.world.set("CLAUDE_PROJECT_DIR", project);
        story.write(&["m0"]);
        for _ in 0..2 {
            assert_eq!(plays(&story, ("Bash", "command"), texts, folders), "", "{texts:?}");
        }
    }
}

#[test]
fn where_fusebox_only_watches_nothing_is_refused() {
    let story = Story::begin(&json!({"mode": "observe"}));
    story.write(&["m0"]);
    for _ in 0..2 {
        let answer = plays(&story, ("Bash", "command"), [HARMLESS, "claude --bare -p x"], HERE);
        assert!(!answer.contains("deny"), "{answer}");
    }
}
