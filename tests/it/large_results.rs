//! Results of calls are in the next request: what they cost is reckoned with before it is made.

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{TestWorld, with};

const TRANSCRIPT: &str = "home/.claude/projects/-p/s1.jsonl";

/// Has an agent get so large a result from its first call; returns the answer at the end of the batch.
fn answer_to(limits: &Value, result: &Value) -> String {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", limits.to_string());
    let time = GivenTime::at(&world, BEGAN_MS);
    let event = |name: &str, rest: &Value| {
        let place = json!({"transcript_path": world.path(TRANSCRIPT)});
        time.hook(with(world.event("s1", "p1", name, rest), &place))
    };
    event("SessionStart", &json!({"source": "startup"}));
    event("UserPromptSubmit", &json!({"prompt": "go"}));
    let content = json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/tmp/a"}}]);
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 2000});
    let message =
        json!({"role": "assistant", "id": "m1", "model": "claude-opus-5-5", "content": content, "usage": usage});
    let row = json!({"type": "assistant", "uuid": "u1", "sessionId": "s1", "timestamp": rfc3339::format(time.now_ms()), "message": message});
    world.append(TRANSCRIPT, format!("{row}\n"));
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/tmp/a"}, "tool_use_id": "t1"});
    assert!(!event("PreToolUse", &call).contains("deny"));
    event("PostToolUse", &with(call.clone(), &json!({"tool_response": {}})));
    event("PostToolBatch", &json!({"tool_calls": [with(call, &json!({"tool_response": result}))]}))
}

fn is_ended(answer: &str) -> bool {
    answer.contains("\"continue\":false")
}

#[test]
fn a_cap_is_not_passed_by_what_calls_bring_in() {
    let strict = json!({"session": {"max_cost_usd": 0.3, "timeout_action": "terminate", "grace_turns": 0}, "main": {"grace_turns": 0}});
    let tokens = json!({"session": {"max_tokens": 60_000, "timeout_action": "terminate", "grace_turns": 0}, "main": {"grace_turns": 0}});
    let text = |bytes: usize| Value::from("lorem ipsum ".repeat(bytes / 12));
    // 100,000 tokens are 0.5 USD and more to write; a fiftieth of that is not.
    for (limits, result, ends) in [
        (&strict, text(300_000), true),
        (&strict, text(6_000), false),
        (&tokens, text(300_000), true),
        (&tokens, text(90_000), false),
    ] {
        let answer = answer_to(limits, &result);
        assert_eq!(is_ended(&answer), ends, "{limits} {} bytes: {answer}", result.to_string().len());
    }
}

/// The bytes of a picture are no text.
#[test]
fn a_picture_is_as_many_tokens_as_the_model_makes_of_it() {
    let strict = json!({"session": {"max_cost_usd": 0.3, "timeout_action": "terminate", "grace_turns": 0}, "main": {"grace_turns": 0}});
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBOR".repeat(100_000)});
    let pictures = |count: usize| Value::from(vec![json!({"type": "image", "source": source}); count]);
    assert!(!is_ended(&answer_to(&strict, &pictures(1))));
    assert!(is_ended(&answer_to(&strict, &pictures(60))));
}
