//! Whatever stands on the hook's standard input, and whatever lies where a transcript should be: an answer, a line in the log,
//! exit code 0, and nothing lost.

use std::fs;

use fusebox::wire::input::notifications;
use serde_json::json;

use crate::world::TestWorld;

const CALL: &str = r#"{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/p","prompt_id":"p1","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{},"tool_use_id":"ID"}"#;

fn call(id: &str, transcript: &str) -> String {
    CALL.replace("ID", id).replace("TRANSCRIPT", transcript)
}

fn log(world: &TestWorld) -> String {
    world.read("state/execution-limits.log").unwrap_or_default()
}

/// Returns how many tool calls the session has, by the report.
fn turns(world: &TestWorld) -> u64 {
    let report: serde_json::Value = serde_json::from_str(&world.run(&["report", "--json"]).ok()).unwrap();
    report["sessions"][0]["turns"].as_u64().unwrap()
}

#[test]
fn input_that_is_no_event_is_answered_by_on_error_and_written_down() {
    let inputs = [
        ("", "the hook's input is empty"),
        ("  \n", "the hook's input is empty"),
        ("no json", "no event as the client writes them"),
        (r#"{"session_id":"s1","hook_ev"#, "no event as the client writes them"),
        (r#"{"session_id":7,"hook_event_name":"PreToolUse"}"#, "no event as the client writes them"),
        (r#"{"session_id":"s1"}"#, "lacks `session_id` or `hook_event_name`"),
        (r#"{"session_id":"../../etc","hook_event_name":"PreToolUse"}"#, "is no id as the client makes them"),
        ("[1, 2]", "no event as the client writes them"),
    ];
    for (input, why) in inputs {
        let world = TestWorld::new();
        assert_eq!(world.hook(input).ok(), "", "{input}");
        assert!(log(&world).contains(why), "{input}: {}", log(&world));
        world.write("home/.claude/fusebox.json", r#"{"on_error": "deny"}"#);
        let answer = world.hook(input).ok();
        assert!(answer.contains(r#""permissionDecision":"deny""#) && answer.contains(why), "{input}: {answer}");
    }
}

#[test]
fn a_person_is_told_once_of_events_that_cannot_be_read() {
    let world = TestWorld::new();
    let event =
        |name: &str| world.hook(world.event("s1", "p1", name, &json!({"prompt": "go", "source": "startup"}))).ok();
    event("SessionStart");
    let batch = world.event("s1", "p1", "PostToolBatch", &json!({"tool_calls": []})).to_string();
    let many = batch.replace("[]", &format!("[{}1]", "1,".repeat(9 << 20)));
    for (count, input) in [batch.replace("[]", "[\u{0}]"), batch.replace("[]", "[7"), many].into_iter().enumerate() {
        assert_eq!(world.hook(input).ok(), "");
        let told = event("UserPromptSubmit");
        assert_eq!(told.contains("an event here could not be read"), count == 0, "{count}: {told}");
    }
    let log = world.run(&["log"]).ok();
    assert_eq!(log.matches("could not be read").count(), 1, "{log}");
}

#[test]
fn an_input_of_ten_megabytes_is_taken_like_any_other() {
    let world = TestWorld::new();
    let long = "x".repeat(10 << 20);
    let input = call("t1", "").replace("{}", &format!(r#"{{"file_path":"{long}"}}"#));
    assert_eq!(world.hook(input).ok(), "");
    assert_eq!(turns(&world), 1);
}

#[test]
fn an_unknown_event_is_let_through_and_written_down_once() {
    let world = TestWorld::new();
    for _ in 0..2 {
        assert_eq!(world.hook(r#"{"session_id":"s1","hook_event_name":"SomethingNew","more":[1]}"#).ok(), "");
    }
    assert_eq!(log(&world).matches("does not know, and it was let through: SomethingNew").count(), 1);
}

#[test]
fn a_transcript_in_any_state_costs_no_count() {
    let world = TestWorld::new();
    let row = |id: &str| {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-11-20T10:00:00.000Z","message":{{"id":"{id}","model":"claude-opus-5-5","usage":{{"input_tokens":10,"output_tokens":20}}}}}}"#
        ) + "\n"
    };
    world.write("t/folder.jsonl/inside", "");
    world.write("t/half.jsonl", row("m1") + &row("m2")[..40]);
    world.write("t/rewritten.jsonl", row("m1") + &row("m2") + &row("m3"));
    for (turn, name) in ["missing", "folder", "half", "rewritten"].iter().enumerate() {
        let path = world.path(&format!("t/{name}.jsonl")).display().to_string();
        let said = world.hook(call(&format!("{name}-1"), &path)).ok();
        assert_eq!(said.contains("cannot be read"), *name == "folder", "{said}");
        assert_eq!(turns(&world), turn as u64 + 1, "{name}");
    }
    let path = world.path("t/rewritten.jsonl");
    fs::write(&path, row("m3")).unwrap();
    let said = world.hook(call("again", &path.display().to_string())).ok();
    assert!(said.contains("a transcript was rewritten, and is read again from its start"), "{said}");
    let report: serde_json::Value = serde_json::from_str(&world.run(&["report", "--json"]).ok()).unwrap();
    assert_eq!(report["sessions"][0]["requests"], 3, "each response once, and none lost: {report}");
    assert_eq!(report["sessions"][0]["turns"], 5);
}

#[test]
fn of_a_prompt_that_tells_of_more_tasks_than_can_run_the_first_are_read() {
    let one = |task: usize| format!("<task-notification><task-id>a{task}</task-id></task-notification>\n");
    let told: String = (0..5_000).map(one).collect();
    let read = notifications(&told);
    assert_eq!((read.len(), read[0].task.as_str()), (256, "a0"));
}
