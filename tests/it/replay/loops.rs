//! Loops in transcripts: a call is judged by its result, as it is live.

use serde_json::{Value, json};

use crate::world::TestWorld;

/// Replays eight calls of one turn; returns what is said of it.
fn replayed(call: impl Fn(u32) -> (String, Value)) -> String {
    let world = TestWorld::new();
    let row = |second: u32, fields: Value| {
        let at = format!("2026-11-20T10:00:{second:02}.000Z");
        let mut row = json!({"sessionId": "s1", "timestamp": at, "uuid": format!("u{second}")});
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        format!("{row}\n")
    };
    let mut rows = row(0, json!({"type": "user", "promptId": "p1", "message": {"content": "go"}}));
    for number in 0..8 {
        let (command, result) = call(number);
        let id = format!("t{number}");
        let asked = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
        let told = json!([{"type": "tool_result", "tool_use_id": id, "content": result}]);
        let message = json!({"id": format!("m{number}"), "content": asked});
        rows += &row(2 * number + 1, json!({"type": "assistant", "message": message}));
        rows += &row(2 * number + 2, json!({"type": "user", "message": {"content": told}}));
    }
    world.write("past/s1.jsonl", &rows);
    world.run(&["replay", &world.path("past").display().to_string()]).ok()
}

#[test]
fn calls_are_a_loop_by_their_results() {
    let blocks = |number: u32| json!([{"type": "text", "text": format!("step {number}")}]);
    for (command, what, is_loop) in [
        ("echo step N; sleep 0.3", "step N", false),
        ("cat progress", "step N", false),
        ("cat progress", "blocks", false),
        ("echo step N", "step", false),
        ("cat progress", "step", true),
        ("sleep 0.3; echo waits # N", "waits", true),
    ] {
        let said = replayed(|number| {
            let with = |text: &str| text.replace('N', &number.to_string());
            (with(command), if what == "blocks" { blocks(number) } else { json!(with(what)) })
        });
        assert_eq!(said.contains("had the same result 5 times in a row"), is_loop, "{command} -> {what}: {said}");
    }
}
