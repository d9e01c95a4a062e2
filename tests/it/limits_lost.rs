//! A state that is deleted while a session runs, together with a change of the files that its limits are read from.

use std::fs;

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::world::TestWorld;

const POLICY: &str = "home/.claude/fusebox.json";

fn event(world: &TestWorld, name: &str, rest: &Value) -> String {
    world.hook(world.event("s1", "p1", name, rest)).ok()
}

fn answer(world: &TestWorld, id: &str) -> String {
    event(world, "PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}))
}

/// Whether a call is refused.
fn call(world: &TestWorld, id: &str) -> bool {
    answer(world, id).contains("deny")
}

/// A session at work under a policy, as its client writes it down.
fn at_work(policy: &Value) -> TestWorld {
    let world = TestWorld::new();
    world.write(POLICY, policy.to_string());
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "go"}));
    let time = rfc3339::format(Environment::real().now().wall_ms);
    let hook = json!({"type": "hook_success", "hookEvent": "SessionStart", "command": "/usr/bin/fusebox hook"});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]});
    let rows = [
        json!({"type": "attachment", "attachment": hook, "timestamp": time}),
        json!({"type": "user", "promptId": "p1", "timestamp": time, "message": {"role": "user", "content": "go"}}),
        json!({"type": "user", "promptId": "p1", "timestamp": time, "message": result}),
    ];
    world.append("s1.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    assert!(!call(&world, "t1"));
    let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1", "tool_response": {}});
    event(&world, "PostToolUse", &over);
    world
}

/// What an agent may do to the files of limits, and whether that leaves a trace.
type Change = (&'static str, fn(&TestWorld), bool);

const CHANGES: [Change; 5] = [
    ("emptied", |world| world.write(POLICY, "{}"), true),
    ("observed", |world| world.write(POLICY, r#"{"mode": "observe"}"#), true),
    (
        "replaced by another, and put back",
        |world| {
            let policy = world.path(POLICY);
            let before = fs::read_to_string(&policy).unwrap();
            fs::remove_file(&policy).unwrap();
            world.write(POLICY, before);
        },
        true,
    ),
    ("left as it is", |_| (), false),
    ("taken away", |world| fs::remove_file(world.path(POLICY)).unwrap(), false),
];

#[test]
fn what_is_changed_together_with_the_state_lifts_no_limit_unseen() {
    for (what, change, is_held) in CHANGES {
        let world = at_work(&json!({"main": {"max_turns": 50}}));
        fs::remove_dir_all(world.path("state")).unwrap();
        change(&world);
        let told = answer(&world, "t2");
        assert_eq!(told.contains("deny"), is_held, "{what}: {told}");
        assert_eq!(call(&world, "t3"), is_held, "{what}");
        let says = if is_held { "nothing runs until you look" } else { "those of the files as they are now" };
        assert!(told.contains(says), "{what}: {told}");
    }
}

/// A session that another client takes up, whose state was pruned since, has the limits of the files by right.
#[test]
fn a_client_that_starts_takes_the_files_as_they_are() {
    let world = at_work(&json!({"main": {"max_turns": 50}}));
    fs::remove_dir_all(world.path("state")).unwrap();
    world.write(POLICY, "{}");
    event(&world, "SessionStart", &json!({"source": "resume"}));
    assert!(!call(&world, "t2"));
}

#[test]
fn a_reload_by_a_person_lets_it_go_on() {
    let world = at_work(&json!({"main": {"max_turns": 50}}));
    fs::remove_dir_all(world.path("state")).unwrap();
    world.write(POLICY, r#"{"main": {"max_turns": 60}}"#);
    assert!(call(&world, "t2"));
    world.run(&["reload", "--all"]).ok();
    assert!(!call(&world, "t3"));
}
