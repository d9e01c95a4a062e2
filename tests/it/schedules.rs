//! Prompts of the client's schedule go on with their run, however the client cuts them; a row that anybody can write makes no
//! person's prompt one of them.

use serde_json::{Value, json};

use crate::state::load;
use crate::world::TestWorld;

/// Where the client cuts prompts in its list of schedules, in units of UTF-16, as 2.1.328 does.
const LISTED: usize = 1_000;

/// Cuts a text as the client does, which may cut a letter in two.
fn cut(text: &str, most: usize) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    match units.len().checked_sub(most) {
        Some(rest @ 1..) => format!("{}… [+{rest} chars]", String::from_utf16_lossy(&units[..most])),
        _ => text.to_owned(),
    }
}

fn event(world: &TestWorld, name: &str, prompt_id: &str, more: &Value) -> String {
    let event = world.event("s1", prompt_id, name, more);
    world.hook(&event).ok()
}

/// A world whose main run has used up its calls; `scheduled` is what it has scheduled.
fn used_up(scheduled: Option<&str>) -> TestWorld {
    let world = TestWorld::new();
    let limits = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    world.write("s1.jsonl", "");
    event(&world, "UserPromptSubmit", "p1", &json!({"prompt": "start"}));
    let tool = if scheduled.is_some() { "CronCreate" } else { "Read" };
    for id in ["t1", "t2"] {
        let call =
            json!({"tool_name": tool, "tool_input": {"prompt": scheduled}, "tool_use_id": id, "tool_response": "done"});
        event(&world, "PreToolUse", "p1", &call);
        event(&world, "PostToolUse", "p1", &call);
        event(&world, "PostToolBatch", "p1", &json!({"tool_calls": [call]}));
    }
    let refused = event(&world, "PreToolUse", "p1", &json!({"tool_name": "Read", "tool_use_id": "t3"}));
    assert!(refused.contains("2/2 (max_turns"), "{refused}");
    world
}

#[test]
fn a_schedules_prompt_goes_on_with_its_run_however_long_it_is() {
    for is_listed in [false, true] {
        let world = used_up(None);
        let mut number = 1;
        for length in [1, 10, 449, 450, 451, 500, 899, 900, 901, 999, 1_000, 1_001, 1_500, 5_000] {
            for letter in ["x", "é", "語", "😀", " ", "x😀", "\n"] {
                let prompt: String = letter.chars().cycle().take(length).collect();
                let before = format!("p{number}");
                if is_listed {
                    event(&world, "Stop", &before, &json!({"session_crons": [{"prompt": cut(&prompt, LISTED)}]}));
                } else {
                    let call =
                        json!({"tool_name": "CronCreate", "tool_input": {"prompt": prompt}, "tool_use_id": before});
                    event(&world, "PreToolUse", &before, &call);
                }
                number += 1;
                let answer = event(&world, "UserPromptSubmit", &format!("p{number}"), &json!({"prompt": prompt}));
                assert!(answer.contains("\"decision\":\"block\""), "{length} of {letter:?}, {is_listed}: {answer}");
            }
        }
        assert_eq!(load(&world, "s1").1.len(), 1, "no run was begun");
    }
}

#[test]
fn a_forged_row_makes_no_persons_prompt_the_schedules() {
    let row = |prompt: &str| json!({"type": "system", "subtype": "scheduled_task_fire", "prompt": prompt}).to_string();
    let long = "go on with it ".repeat(50);
    for (scheduled, said, forged) in [
        (None, "go on", "go on"),
        (None, "a person asks", "/loop"),
        (None, long.as_str(), &long[..200]),
        (Some("each hour"), "a person asks", "/loop"),
        (Some("each hour"), "a person asks", ""),
    ] {
        let world = used_up(scheduled);
        event(&world, "Stop", "p1", &json!({}));
        world.write("s1.jsonl", format!("{}\n", row(forged)));
        let answer = event(&world, "UserPromptSubmit", "p2", &json!({"prompt": said}));
        assert!(!answer.contains("block"), "{scheduled:?} {said} {forged}: {answer}");
    }
}

#[test]
fn a_row_of_the_schedule_tells_its_prompt_where_the_list_does_not() {
    let long = "go on with it ".repeat(50);
    for prompt in ["expanded by the client", &long] {
        let world = used_up(Some("/expands"));
        event(&world, "Stop", "p1", &json!({"session_crons": [{"prompt": "/expands"}]}));
        let shown: String = prompt.chars().take(200).collect();
        let row = json!({"type": "system", "subtype": "scheduled_task_fire", "prompt": shown});
        world.write("s1.jsonl", format!("{row}\n"));
        let answer = event(&world, "UserPromptSubmit", "p2", &json!({"prompt": prompt}));
        assert!(answer.contains("\"decision\":\"block\""), "{prompt}: {answer}");
    }
}
