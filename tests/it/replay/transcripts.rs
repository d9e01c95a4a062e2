//! What is read out of transcripts: which hook calls the client would have made.

use std::fs;

use fusebox::replay::from_transcripts::make;
use serde_json::{Value, json};

use crate::world::{TestWorld, with};

const SESSION: &str = "s1";

/// A row of the main transcript, `second` seconds after ten o'clock.
fn row(second: u32, fields: Value) -> Value {
    with(
        json!({"sessionId": SESSION, "timestamp": format!("2026-11-20T10:00:{second:02}.000Z"), "uuid": format!("u{second}")}),
        &fields,
    )
}

fn prompt(second: u32, id: &str, text: &str) -> Value {
    row(second, json!({"type": "user", "promptId": id, "message": {"content": text}}))
}

fn calls(second: u32, message: &str, ids: &[&str]) -> Value {
    let content: Vec<Value> =
        ids.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})).collect();
    row(second, json!({"type": "assistant", "message": {"id": message, "content": content}}))
}

fn words(second: u32, message: &str) -> Value {
    row(
        second,
        json!({"type": "assistant", "message": {"id": message, "content": [{"type": "text", "text": "words"}]}}),
    )
}

fn result(second: u32, id: &str, failed: bool) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed}]);
    row(second, json!({"type": "user", "message": {"content": content}}))
}

/// Checks the calls made of a main transcript: `second name prompt call`, one a line, without the session's start and end.
#[track_caller]
fn check(rows: &[Value], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s1.jsonl");
    fs::write(&path, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
    let recording = make(&path).unwrap().unwrap();
    let lines = recording.calls.iter().map(|call| {
        let input: Value = serde_json::from_str(call.input.get()).unwrap();
        let text = |key: &str| input[key].as_str().unwrap_or("").to_owned();
        let batch = input["tool_calls"]
            .as_array()
            .map(|calls| calls.iter().map(|call| call["tool_use_id"].as_str().unwrap()).collect::<Vec<_>>().join("+"));
        let call_id = batch.unwrap_or_else(|| text("tool_use_id"));
        let (name, prompt) = (text("hook_event_name"), text("prompt_id"));
        format!("{} {name} {prompt} {call_id}", call.at_ms / 1000).trim_end().to_owned()
    });
    let lines: Vec<String> = lines.filter(|line| !line.contains(" Session")).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_turn_is_a_prompt_calls_a_batch_and_an_end() {
    check(
        &[
            prompt(0, "p1", "go"),
            calls(1, "m1", &["t1"]),
            // the first call's result comes while the response goes on
            result(2, "t1", false),
            calls(3, "m1", &["t2"]),
            result(4, "t2", true),
            words(5, "m2"),
            words(6, "m2"),
        ],
        &[
            "0 UserPromptSubmit p1",
            "1 PreToolUse p1 t1",
            "2 PostToolUse p1 t1",
            "3 PreToolUse p1 t2",
            "4 PostToolUseFailure p1 t2",
            "4 PostToolBatch p1 t1+t2",
            "6 Stop p1",
        ],
    );
}

#[test]
fn an_interruption_ends_a_turn_without_an_event() {
    check(
        &[
            prompt(0, "p1", "go"),
            calls(1, "m1", &["t1"]),
            prompt(2, "p1", "[Request interrupted by user for tool use]"),
            prompt(3, "p2", "rather this"),
            words(4, "m2"),
        ],
        &["0 UserPromptSubmit p1", "1 PreToolUse p1 t1", "3 UserPromptSubmit p2", "4 Stop p2"],
    );
}

#[test]
fn only_prompts_that_reach_the_model_count() {
    check(
        &[
            prompt(0, "p0", "<command-name>/model</command-name>"),
            prompt(1, "p0", "<local-command-stdout>set</local-command-stdout>"),
            prompt(2, "p1", "go"),
            with(prompt(3, "p1", "a reminder beside it"), &json!({"isMeta": true})),
            words(4, "m1"),
            with(prompt(5, "p2", "This session is being continued"), &json!({"isCompactSummary": true})),
            words(6, "m2"),
        ],
        &["0 UserPromptSubmit p1", "2 Stop p1", "3 PreCompact p2", "4 Stop p1"],
    );
}

#[test]
fn a_prompt_without_an_id_is_named_by_its_row_and_one_amid_work_is_part_of_it() {
    let old =
        |second, text| row(second, json!({"type": "user", "message": {"content": [{"type": "text", "text": text}]}}));
    check(
        &[
            old(0, "go"),
            calls(1, "m1", &["t1"]),
            result(2, "t1", false),
            old(3, "and"),
            words(4, "m2"),
            old(5, "next"),
            words(6, "m3"),
        ],
        &[
            "0 UserPromptSubmit u0",
            "1 PreToolUse u0 t1",
            "2 PostToolUse u0 t1",
            "2 PostToolBatch u0 t1",
            "3 UserPromptSubmit u0",
            "4 Stop u0",
            "5 UserPromptSubmit u5",
            "6 Stop u5",
        ],
    );
}

#[test]
fn what_a_fork_copied_is_no_work_of_its_own() {
    let copied = |row| with(row, &json!({"requestSessionId": "s0"}));
    check(
        &[
            prompt(0, "p1", "go"),
            copied(calls(1, "m1", &["t1"])),
            result(2, "t1", false),
            copied(words(3, "m2")),
            prompt(4, "p2", "go on here"),
            words(5, "m3"),
        ],
        &["0 UserPromptSubmit p2", "1 Stop p2"],
    );
}

#[test]
fn a_broken_row_harms_no_other() {
    let broken = json!({"type": "user", "message": 7, "promptId": {}, "timestamp": 3});
    check(
        &[prompt(0, "p1", "go"), broken, with(words(1, "m1"), &json!({"timestamp": "yesterday"})), words(2, "m2")],
        &["0 UserPromptSubmit p1", "0 Stop p1", "2 Stop p1"],
    );
}

/// A loop is what has the same result again and again, in a transcript as in a live session: not calls that differ by a number
/// and a short wait, each with a result of its own.
#[test]
fn calls_that_each_have_another_result_are_no_loop() {
    for (is_same, command) in [(false, "echo step {}; sleep 0.3"), (false, "tail -n 1 log"), (true, "tail -n 1 log")] {
        let mut rows = vec![prompt(0, "p1", "go")];
        for number in 1..=12 {
            let (id, message) = (format!("t{number}"), format!("m{number}"));
            let input = json!({"command": command.replace("{}", &number.to_string())});
            let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]);
            rows.push(row(2 * number, json!({"type": "assistant", "message": {"id": message, "content": call}})));
            let printed = if is_same { "step".to_owned() } else { format!("step {number}") };
            let content = json!([{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": printed}]);
            let result = json!({"stdout": printed, "stderr": "", "interrupted": false});
            rows.push(row(
                2 * number + 1,
                json!({"type": "user", "message": {"content": content}, "toolUseResult": result}),
            ));
        }
        rows.push(words(30, "m30"));
        let world = TestWorld::new();
        world.write("past/s1.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
        let said = world.run(&["replay", world.path("past").to_str().unwrap()]).ok();
        assert_eq!(said.contains("had the same result"), is_same, "{command}: {said}");
    }
}
