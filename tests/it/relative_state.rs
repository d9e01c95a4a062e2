//! A folder of the state that is named from where one stands: hooks run wherever the agent is.

use serde_json::{Value, json};

use crate::world::{TestWorld, with};

#[test]
fn a_relative_folder_of_the_state_is_the_same_wherever_the_agent_is() {
    let world = TestWorld::with_git();
    world.write("project/sub/file", "");
    let hook = |folder: &str, name: &str, rest: Value| {
        let input = with(
            json!({"session_id": "s-0000", "transcript_path": world.path("transcripts/s-0000.jsonl"),
                "cwd": world.path(folder), "prompt_id": "p1", "hook_event_name": name}),
            &rest,
        );
        let project = world.path("project");
        let command = world.command(&["hook"]).folder(folder).env("FUSEBOX_HOME", ".fusebox");
        command.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap()).stdin(input).run().ok();
    };
    hook("project", "SessionStart", json!({"source": "startup"}));
    hook("project", "UserPromptSubmit", json!({"prompt": "go"}));
    for (number, folder) in ["project", "project/sub", "project"].into_iter().enumerate() {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": "f"}, "tool_use_id": format!("t{number}")});
        hook(folder, "PreToolUse", call);
    }
    assert!(!world.path("project/sub/.fusebox").exists());
    let status = world.command(&["status", "--json"]).env("FUSEBOX_HOME", ".fusebox").run().ok();
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["sessions"][0]["runs"][0]["turns"], 3, "{status}");
}
