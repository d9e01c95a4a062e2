//! What the client keeps of the settings that a server manages is one more settings file: where the server does not answer, the next
//! client goes by it, and an agent's user can write it.

use serde_json::{Value, json};

use crate::world::TestWorld;

const KEPT: &str = "home/.claude/remote-settings.json";

/// What takes hooks away, or leads requests past them.
const HARMFUL: [&str; 3] = [
    r#"{"disableAllHooks": true}"#,
    r#"{"allowManagedHooksOnly": true}"#,
    r#"{"env": {"ANTHROPIC_BASE_URL": "http://localhost:1"}}"#,
];

/// A session of a user in whose settings the hooks are registered.
fn begun() -> TestWorld {
    let world = TestWorld::new();
    world.run(&["init", "--scope", "user"]).ok();
    tell(&world, "SessionStart", &json!({"source": "startup"}));
    world
}

fn tell(world: &TestWorld, name: &str, rest: &Value) -> String {
    world.hook(world.event("s1", "p1", name, rest)).ok()
}

/// Whether a call is refused.
fn refuses(world: &TestWorld, id: &str, tool: &str, input: &Value) -> bool {
    tell(world, "PreToolUse", &json!({"tool_name": tool, "tool_input": input, "tool_use_id": id})).contains("deny")
}

fn starts(world: &TestWorld, id: &str) -> bool {
    !refuses(world, id, "Bash", &json!({"command": "claude -p go"}))
}

#[test]
fn what_waits_in_it_is_told_and_no_client_is_started_with_it() {
    for text in HARMFUL {
        let world = begun();
        assert!(starts(&world, "t1"), "{text}");
        world.write(KEPT, text);
        assert!(!starts(&world, "t2"), "{text}");
        let told = tell(&world, "Stop", &json!({"stop_hook_active": false}));
        assert!(told.contains("remote-settings.json"), "{text}: {told}");
        let said = world.run(&["doctor"]).stdout;
        let line = said.lines().find(|line| line.contains("  switches  ")).unwrap();
        assert!(!line.starts_with("ok") && line.contains("~/.claude/remote-settings.json"), "{text}: {line}");
    }
}

/// A server sets what is no concern of ours.
#[test]
fn what_harms_nothing_in_it_is_not_told() {
    for text in ["{}", r#"{"permissions": {"deny": ["WebFetch"]}}"#, r#"{"disableAllHooks": false}"#] {
        let world = begun();
        world.write(KEPT, text);
        assert!(starts(&world, "t1"), "{text}");
        let told = tell(&world, "Stop", &json!({"stop_hook_active": false}));
        assert!(!told.contains("remote-settings.json"), "{text}: {told}");
    }
}

#[test]
fn an_agent_may_not_write_it_plainly() {
    for (command, expected) in [
        ("echo '{}' > ~/.claude/remote-settings.json", true),
        ("cp x.json ~/.claude/remote-settings.json", true),
        ("cd ~/.claude && mv /tmp/x remote-settings.json", true),
        ("rm -f $HOME/.claude/remote-settings.json", true),
        ("cat ~/.claude/remote-settings.json", false),
        ("echo '{}' > remote-settings.json", false),
    ] {
        assert_eq!(refuses(&begun(), "t1", "Bash", &json!({"command": command})), expected, "{command}");
    }
    let world = begun();
    let path = world.path(KEPT);
    assert!(refuses(&world, "t1", "Write", &json!({"file_path": path, "content": "{}"})));
    assert!(!refuses(&world, "t2", "Read", &json!({"file_path": path})));
}
