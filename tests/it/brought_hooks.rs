//! Hooks that an agent's type, a skill or a plugin brings and that ask the model are charged at their events.

use serde_json::{Map, Value, json};

use crate::hidden::HOOK;
use crate::missing_usage::Story;
use crate::world::{TestWorld, with};

/// Hooks of type `prompt` for a frontmatter, one at each event, with a word of their own.
pub fn frontmatter(name: &str, more: &str) -> String {
    let events =
        ["PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop", "UserPromptSubmit", "SubagentStart"];
    let hook = |event: &str| format!("  {event}:\n    - hooks:\n        - type: prompt\n          prompt: well?\n");
    format!("---\nname: {name}\ndescription: it: is no YAML\n{more}hooks:\n{}---\nWork.\n", events.map(hook).concat())
}

/// The same for a plugin.
fn plugin_hooks() -> Value {
    let hook = json!([{"hooks": [{"type": "prompt", "prompt": "well?"}, {"type": "command", "command": "true"}]}]);
    json!({"hooks": {"PreToolUse": hook, "SubagentStart": hook, "SessionStart": hook}})
}

pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns how many hooks are charged at an event, each at the price of a short one.
pub fn asked_at(story: &Story, name: &str, more: &Value) -> u64 {
    let before = story.cost();
    story.event(name, more);
    (story.cost().0 - before.0) / HOOK.0
}

/// Fusebox registers for none of these events: each comes with another.
#[test]
fn hooks_are_charged_with_what_brings_them_where_their_event_is_not_told() {
    let untold = ["UserPromptExpansion", "PermissionDenied", "TaskCreated", "TaskCompleted"];
    let asks = |event: &str| (event.to_owned(), json!([{"hooks": [{"type": "prompt", "prompt": "well?"}]}]));
    let task = |tool: &str, input: Value| json!({"tool_name": tool, "tool_input": input, "tool_use_id": tool, "tool_response": "x"});
    let denied = |mode: &str, result: &str| {
        let call =
            json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": mode, "tool_response": result});
        json!({"permission_mode": mode, "tool_calls": [call]})
    };
    for event in untold {
        let story = Story::with(&json!({}), |world| {
            let hooks: Map<String, Value> = [asks(event)].into_iter().collect();
            world.write("project/.claude/settings.json", json!({"hooks": hooks}).to_string());
        });
        story.write(&["m0"]);
        for mode in ["auto", "plan", "default", "rejected"] {
            story.event(
                "PreToolUse",
                &json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": mode}),
            );
        }
        let asked = [
            asked_at(&story, "UserPromptSubmit", &json!({"prompt": "plainly"})),
            asked_at(&story, "UserPromptSubmit", &json!({"prompt": "/review all"})),
            asked_at(&story, "PostToolUse", &task("TaskCreate", json!({"subject": "x"}))),
            asked_at(&story, "PostToolUse", &task("TaskUpdate", json!({"taskId": "1", "status": "in_progress"}))),
            asked_at(&story, "PostToolUse", &task("TaskUpdate", json!({"taskId": "1", "status": "completed"}))),
            asked_at(&story, "PostToolBatch", &denied("default", "No")),
            asked_at(&story, "PostToolBatch", &denied("auto", "denied")),
            asked_at(&story, "PostToolBatch", &denied("plan", "denied")),
        ];
        let at = |name: &str| u64::from(event == name);
        let judged = at("PermissionDenied");
        let expected = [0, at("UserPromptExpansion"), at("TaskCreated"), 0, at("TaskCompleted"), 0, judged, judged];
        assert_eq!(asked, expected, "{event}");
    }
}

/// The client runs what is for Bash at a monitor, too, before that runs.
#[test]
fn hooks_for_bash_are_charged_before_a_monitor_runs() {
    for (event, matcher, asks) in
        [("PreToolUse", "Bash", 1), ("PreToolUse", "^Bash$", 1), ("PreToolUse", "Read", 0), ("PostToolUse", "Bash", 0)]
    {
        let story = Story::with(&json!({}), |world| {
            let hooks = json!([{"matcher": matcher, "hooks": [{"type": "prompt", "prompt": "well?"}]}]);
            world.write("project/.claude/settings.json", json!({"hooks": {event: hooks}}).to_string());
        });
        story.write(&["m0"]);
        let call =
            json!({"tool_name": "Monitor", "tool_input": {"command": "x"}, "tool_use_id": "t", "tool_response": "x"});
        assert_eq!(asked_at(&story, event, &call), asks, "{matcher} at {event}");
    }
}

#[test]
fn no_agent_is_charged_that_is_asked_for_a_permission() {
    for (kind, asks) in [("prompt", 1), ("agent", 0)] {
        let story = Story::with(&json!({}), |world| {
            let hooks = json!({"PermissionRequest": [{"hooks": [{"type": kind, "prompt": "well?"}]}]});
            world.write("project/.claude/settings.json", json!({"hooks": hooks}).to_string());
        });
        story.write(&["m0"]);
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}});
        assert_eq!(asked_at(&story, "PermissionRequest", &call), asks, "{kind}");
    }
}

#[test]
fn hooks_of_an_agents_type_are_charged_at_its_events() {
    let story = Story::with(&json!({}), |world| {
        world.write("project/.claude/agents/any.md", frontmatter("worker", ""));
    });
    story.write(&["m0"]);
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t0"})), 0);
    for (kind, each) in [("worker", 1), ("other", 0)] {
        let at = |name: &str, more: Value| {
            let input = with(json!({"agent_id": format!("a-{kind}"), "agent_type": kind}), &more);
            asked_at(&story, name, &input)
        };
        assert_eq!(at("SubagentStart", json!({})), 0, "there the client has nothing to show");
        let call =
            json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t-{kind}"), "tool_response": "x"});
        assert_eq!(at("PreToolUse", call.clone()), each, "{kind}");
        assert_eq!(at("PostToolUse", call.clone()), each, "{kind}");
        assert_eq!(at("PostToolBatch", json!({"tool_calls": [call]})), each, "{kind}");
    }
    // Its end is told to its `Stop` and its `SubagentStop`.
    let before = story.cost();
    story.event("SubagentStop", &json!({"agent_id": "a-worker", "agent_type": "worker"}));
    assert!(story.cost().0 - before.0 >= 2 * HOOK.0, "{}", story.cost());
}

#[test]
fn hooks_of_a_skill_are_charged_at_the_main_agents_events_from_its_call_on() {
    for (path, name) in [
        ("project/.claude/skills/sk/SKILL.md", "sk"),
        ("home/.claude/skills/sk/SKILL.md", "sk"),
        ("project/.claude/commands/sk.md", "sk"),
        ("home/.claude/commands/deep/sk.md", "deep:sk"),
        ("home/.claude/skills/plug/skills/sk/SKILL.md", "plug:sk"),
    ] {
        for typed in [false, true] {
            let story = Story::with(&json!({}), |world| {
                world.write(path, frontmatter("sk", ""));
                world.write(&format!("home/.claude/skills/plug/{MANIFEST}"), "{}");
            });
            story.write(&["m0"]);
            let read =
                |id: &str| json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": "x"});
            assert_eq!(asked_at(&story, "PreToolUse", &read("t0")), 0);
            for number in 0..2 {
                match typed {
                    true => drop(story.event(
                        "UserPromptSubmit",
                        &json!({"prompt": format!("/{name} now"), "prompt_id": number.to_string()}),
                    )),
                    false => {
                        let call = json!({"tool_name": "Skill", "tool_input": {"skill": name}, "tool_use_id": format!("s{number}")});
                        assert_eq!(
                            asked_at(&story, "PostToolUse", &call),
                            1,
                            "{path}: it is at work at the end of its call"
                        );
                    }
                }
            }
            assert_eq!(asked_at(&story, "PreToolUse", &read("t1")), 1, "{path} {typed}");
            let mut of_agent = read("t2");
            of_agent["agent_id"] = json!("a1");
            assert_eq!(asked_at(&story, "PreToolUse", &of_agent), 0, "{path} {typed}");
        }
    }
}

#[test]
fn a_skill_that_works_in_an_agent_of_its_own_brings_no_hooks() {
    let story = Story::with(&json!({}), |world| {
        world.write("project/.claude/skills/sk/SKILL.md", frontmatter("sk", "context: fork\n"));
    });
    story.write(&["m0"]);
    story.event("PostToolUse", &json!({"tool_name": "Skill", "tool_input": {"skill": "sk"}, "tool_use_id": "s"}));
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t1"})), 0);
}

#[test]
fn hooks_of_plugins_are_charged_at_everybodys_events() {
    let installed = json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "PATH"}]}}).to_string();
    type LayOut<'a> = &'a dyn Fn(&TestWorld);
    let lays: [(&str, LayOut); 4] = [
        ("among the project's skills", &|world| {
            world.write(&format!("project/.claude/skills/p/{MANIFEST}"), "{}");
            world.write("project/.claude/skills/p/hooks/hooks.json", plugin_hooks().to_string());
        }),
        ("among the user's, in its manifest", &|world| {
            world.write(&format!("home/.claude/skills/p/{MANIFEST}"), plugin_hooks().to_string());
        }),
        ("named by its manifest", &|world| {
            world.write(&format!("home/.claude/skills/p/{MANIFEST}"), r#"{"hooks": ["./more.json"]}"#);
            world.write("home/.claude/skills/p/more.json", plugin_hooks().to_string());
        }),
        ("installed", &|world| {
            let folder = world.path("home/.claude/plugins/cache/m/p/1");
            world.write(
                "home/.claude/plugins/installed_plugins.json",
                installed.replace("PATH", &folder.to_string_lossy()),
            );
            world.write("home/.claude/plugins/cache/m/p/1/hooks/hooks.json", plugin_hooks().to_string());
            world.write("home/.claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
        }),
    ];
    for (what, lay) in lays {
        let story = Story::with(&json!({}), |world| lay(world));
        story.write(&["m0"]);
        for agent in [json!({}), json!({"agent_id": "a1", "agent_type": "worker"})] {
            let call = with(json!({"tool_name": "Read", "tool_use_id": format!("t{agent}").len().to_string()}), &agent);
            assert_eq!(asked_at(&story, "PreToolUse", &call), 1, "{what} {agent}");
        }
        assert_eq!(asked_at(&story, "SubagentStart", &json!({"agent_id": "a2", "agent_type": "worker"})), 0, "{what}");
    }
}

#[test]
fn a_plugin_that_is_switched_off_or_no_plugin_brings_no_hooks() {
    let story = Story::with(&json!({}), |world| {
        // No manifest makes it a plugin.
        world.write("project/.claude/skills/p/hooks/hooks.json", plugin_hooks().to_string());
        let folder = world.path("home/.claude/plugins/cache/m/q/1");
        let list = json!({"version": 2, "plugins": {"q@m": [{"installPath": folder}]}});
        world.write("home/.claude/plugins/installed_plugins.json", list.to_string());
        world.write("home/.claude/plugins/cache/m/q/1/hooks/hooks.json", plugin_hooks().to_string());
        world.write("home/.claude/settings.json", r#"{"enabledPlugins": {"q@m": false}}"#);
    });
    story.write(&["m0"]);
    assert_eq!(asked_at(&story, "PreToolUse", &json!({"tool_name": "Read", "tool_use_id": "t"})), 0);
}

#[test]
fn a_frontmatter_that_cannot_be_read_is_taken_for_a_hook_at_each_event() {
    let long = format!("description: {}\n", "x".repeat(70_000));
    for more in [long.as_str(), "hooks: [\n"] {
        let story = Story::with(&json!({}), |world| {
            world.write(
                "project/.claude/agents/worker.md",
                format!("---\nhooks:\n  PreToolUse: []\n{more}---\nWork.\n"),
            );
        });
        story.write(&["m0"]);
        let call = json!({"tool_name": "Read", "tool_use_id": "t", "agent_id": "a1", "agent_type": "worker"});
        assert_eq!(asked_at(&story, "PreToolUse", &call), 1);
    }
}
