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

/// The bytes of a picture are no text, what stands beside it is.
#[test]
fn a_picture_is_as_many_tokens_as_the_model_makes_of_it() {
    let strict = json!({"session": {"max_cost_usd": 0.3, "timeout_action": "terminate", "grace_turns": 0}, "main": {"grace_turns": 0}});
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBOR".repeat(100_000)});
    let pictures = |count: usize| vec![json!({"type": "image", "source": source}); count];
    let text = |bytes: usize| vec![json!({"type": "text", "text": "lorem ipsum ".repeat(bytes / 12)})];
    let document = |bytes: usize| {
        vec![
            json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "J".repeat(bytes)}}),
        ]
    };
    for (parts, ends) in [
        (pictures(1), false),
        (pictures(60), true),
        ([pictures(1), text(300_000)].concat(), true),
        (document(300_000), false),
        (document(4_000_000), true),
    ] {
        let result = Value::from(parts);
        assert_eq!(is_ended(&answer_to(&strict, &result)), ends, "{:.120}", result.to_string());
    }
}

/// The main agent has one request under way: what was held for a turn that a person interrupts is held no more.
#[test]
fn what_interrupted_turns_held_adds_up_to_nothing() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"session": {"max_cost_usd": 1}}).to_string());
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let event = |time: &GivenTime, prompt: &str, name: &str, rest: &Value| {
        let place = json!({"transcript_path": world.path(TRANSCRIPT)});
        time.hook(with(world.event("s1", prompt, name, rest), &place))
    };
    event(&time, "p1", "SessionStart", &json!({"source": "startup"}));
    for number in 1..=6 {
        time.pass_ms(20_000);
        let (prompt, id) = (format!("p{number}"), format!("t{number}"));
        let told = event(&time, &prompt, "UserPromptSubmit", &json!({"prompt": "go"}));
        assert!(!told.contains("block"), "{number}: {told}");
        let content = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 2000});
        let message = json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-opus-5-5", "content": content, "usage": usage});
        let at = rfc3339::format(time.now_ms());
        let row = json!({"type": "assistant", "uuid": at, "sessionId": "s1", "timestamp": at, "message": message});
        world.append(TRANSCRIPT, format!("{row}\n"));
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": at}, "tool_use_id": id});
        event(&time, &prompt, "PreToolUse", &call);
        event(&time, &prompt, "PostToolUse", &with(call.clone(), &json!({"tool_response": {}})));
        let result = json!({"tool_response": "lorem ipsum ".repeat(16_000)});
        let told = event(&time, &prompt, "PostToolBatch", &json!({"tool_calls": [with(call, &result)]}));
        assert!(!is_ended(&told), "{number}: {told}");
    }
}
