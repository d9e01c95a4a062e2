//! A batch whose response is not on disk yet: the client is late, and the cap holds all the same.

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;

use crate::world::TestWorld;

const USAGE: &str =
    r#"{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000}"#;

/// Returns the row of a response that costs 0.00584 USD.
fn row(id: usize) -> String {
    let time = rfc3339::format(Environment::real().now().wall_ms);
    format!(
        r#"{{"type":"assistant","timestamp":"{time}","message":{{"id":"m{id}","model":"claude-opus-5-5","usage":{USAGE}}}}}"#
    ) + "\n"
}

/// Works through batches; a `.` is one whose response is on disk at its end, an `l` one whose response comes after it.
/// Returns in which batch the run is stopped.
fn stopped_in(batches: &str) -> Option<usize> {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{"main": {"max_cost_usd": 0.02, "grace_turns": 0}}"#);
    let transcript = world.path("s1.jsonl").display().to_string();
    let event = |name: &str, rest: &str| {
        let head = format!(r#"{{"session_id":"s1","transcript_path":"{transcript}","cwd":"/p","prompt_id":"p1""#);
        world.hook(format!(r#"{head},"hook_event_name":"{name}",{rest}}}"#)).ok()
    };
    event("UserPromptSubmit", r#""prompt":"go""#);
    let mut rows = String::new();
    for (number, on_disk) in batches.chars().enumerate() {
        world.write("s1.jsonl", &rows);
        rows += &row(number);
        event("PreToolUse", &format!(r#""tool_name":"Read","tool_input":{{}},"tool_use_id":"t{number}""#));
        if on_disk == '.' {
            world.write("s1.jsonl", &rows);
        }
        let calls = format!(r#""tool_calls":[{{"tool_name":"Read","tool_input":{{}},"tool_use_id":"t{number}"}}]"#);
        if event("PostToolBatch", &calls).contains(r#""continue":false"#) {
            return Some(number + 1);
        }
    }
    None
}

#[test]
fn a_late_response_is_counted_before_it_is_on_disk() {
    // Three responses of 0.00584 fit into 0.02, wherever the client is late.
    for batches in ["....", "..l.", "l...", ".l..", "lll."] {
        assert_eq!(stopped_in(batches), Some(3), "{batches}");
    }
}
