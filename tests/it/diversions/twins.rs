//! Handlers with the same command as ours: the client runs one of them, the last in its order, and heeds what that one says.

use std::fs;

use serde_json::{Value, json};

use crate::diversions::{Bench, FILES};

/// What a twin of our handler has beside its command, and whether it lets calls go by that ours would refuse.
fn twins() -> Vec<(Value, bool)> {
    vec![
        (json!({"async": true}), true),
        (json!({"asyncRewake": true}), true),
        (json!({"timeout": 0.001}), true),
        (json!({"timeout": 2}), true),
        (json!({"if": "Bash(nothing)"}), true),
        (json!({"once": true}), true),
        (json!({"timeout": 10}), false),
        (json!({"timeout": 600}), false),
        (json!({}), false),
    ]
}

/// What a twin that is not waited for may have, written as the client reads it and not everybody does.
fn odd_twins() -> Vec<String> {
    let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let beside = [r#""prompt":5"#, r#""prompt":"\ud800""#, r#""x":1e999"#, r#""once":null"#, r#""x":"\udc00\ud800""#];
    let beside = beside
        .map(str::to_owned)
        .into_iter()
        .chain([format!(r#""x":{}"#, deep(200)), format!(r#""x":{}"#, deep(9_000))]);
    let doubled = [r#""async":false,"async":true"#, r#""timeout":60,"timeout":1"#, r#""\u0061sync":true"#];
    beside.map(|it| format!(r#""async":true,{it}"#)).chain(doubled.map(str::to_owned)).collect()
}

/// Returns the settings of a file with a twin of a handler at an event, behind what is there.
fn with_twin(bench: &Bench, (ours, file): (usize, usize), event: &str, twin: &Value) -> Value {
    let mut handler = bench.settings(ours)["hooks"][event][0]["hooks"][0].clone();
    let handler_keys = handler.as_object_mut().unwrap();
    handler_keys.remove("timeout");
    handler_keys.extend(twin.as_object().unwrap().clone());
    let mut settings = bench.settings(file);
    let groups = &mut settings["hooks"][event];
    let mut all = groups.as_array().cloned().unwrap_or_default();
    all.push(json!({"matcher": "*", "hooks": [handler]}));
    *groups = all.into();
    settings
}

#[test]
fn a_twin_of_our_hook_waits_where_the_client_takes_it_in_its_place_and_would_not_wait_for_it() {
    let mut wrong = Vec::new();
    for (ours, command) in [(0, &["init", "--scope", "user"][..]), (1, &["init", "--scope", "project"]), (2, &["init"])]
    {
        let mut bench = Bench::registered(command);
        for (at, (twin, is_weaker)) in twins().into_iter().enumerate() {
            let event = ["PreToolUse", "PostToolBatch", "UserPromptSubmit"][at % 3];
            for (file, path) in FILES.iter().enumerate() {
                bench.sessions += 1;
                bench.event("SessionStart");
                bench.world.write(path, with_twin(&bench, (ours, file), event, &twin).to_string());
                let is_blocked = bench.event("ConfigChange").contains(r#""decision":"block""#);
                bench.undo(file);
                // A weaker file's handler is not the last.
                if is_blocked != (is_weaker && file >= ours) {
                    wrong.push(format!("{command:?}, {path} at {event}: {twin}: blocked {is_blocked}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_twin_waits_however_it_is_written() {
    let mut bench = Bench::registered(&["init"]);
    for (at, odd) in odd_twins().into_iter().enumerate() {
        let event = ["PreToolUse", "PostToolBatch", "UserPromptSubmit"][at % 3];
        bench.sessions += 1;
        bench.event("SessionStart");
        let settings = with_twin(&bench, (2, 2), event, &json!({"ODD": 0})).to_string();
        bench.world.write(FILES[2], settings.replace(r#""ODD":0"#, &odd));
        let is_blocked = bench.event("ConfigChange").contains(r#""decision":"block""#);
        let said = bench.world.run(&["doctor"]).stdout;
        bench.undo(2);
        assert!(is_blocked, "{event}: {odd:.200}");
        assert!(said.contains(event), "{odd:.200}: {said}");
    }
}

#[test]
fn hooks_that_fail_closed_are_not_opened_by_another_file() {
    let mut bench = Bench::registered(&["init", "--scope", "user", "--fail-closed"]);
    for (twin, opens) in
        [(json!({}), true), (json!({"onFailure": "continue"}), true), (json!({"onFailure": "block"}), false)]
    {
        for file in [1, 2] {
            bench.sessions += 1;
            bench.event("SessionStart");
            let mut settings = with_twin(&bench, (0, file), "PreToolUse", &twin);
            if opens {
                let handler = &mut settings["hooks"]["PreToolUse"][0]["hooks"][0];
                if twin.as_object().unwrap().is_empty() {
                    handler.as_object_mut().unwrap().remove("onFailure");
                }
            }
            bench.world.write(FILES[file], settings.to_string());
            let is_blocked = bench.event("ConfigChange").contains(r#""decision":"block""#);
            bench.undo(file);
            assert_eq!(is_blocked, opens, "{}: {settings}", FILES[file]);
        }
    }
}

/// An agent's frontmatter registers hooks, too, for its own runs.
#[test]
fn a_client_below_is_held_where_an_agents_frontmatter_has_a_twin_that_is_not_waited_for() {
    let mut bench = Bench::new();
    bench.sessions += 1;
    bench.event("SessionStart");
    let handler = bench.settings(2)["hooks"]["PreToolUse"][0]["hooks"][0].clone();
    let program = handler["command"].as_str().unwrap().to_owned();
    let agent = |more: &str| {
        format!(
            "---\nname: kid\ndescription: works\nhooks:\n  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n          \
             command: {program}\n          args: [hook]\n{more}---\nWork.\n"
        )
    };
    let (unattended, attended) = ("          async: true\n", "          timeout: 60\n");
    let is_blocked = |bench: &mut Bench, text: &str| {
        bench.sessions += 1;
        bench.event("SessionStart");
        bench.world.write("project/.claude/agents/kid.md", text);
        let is_blocked = bench.event("ConfigChange").contains(r#""decision":"block""#);
        fs::remove_file(bench.world.path("project/.claude/agents/kid.md")).unwrap();
        is_blocked
    };
    for key in
        ["hooks:", "\"hooks\":", "'hooks':", "hooks :", "? hooks\n:", "\"\\x68ooks\":", "!!str hooks:", "&a hooks:"]
    {
        for (more, waits) in
            [(unattended, true), (attended, false), ("          async: true\n          prompt: 5\n", true)]
        {
            let text = agent(more).replace("hooks:\n  Pre", &format!("{key}\n  Pre"));
            assert_eq!(is_blocked(&mut bench, &text), waits, "{text}");
        }
    }
    // Behind more than is read nobody knows what stands.
    for (files, waits) in [(30, false), (40, true)] {
        bench.sessions += 1;
        bench.event("SessionStart");
        for number in 0..files {
            let text = format!("---\nname: a{number}\ndescription: {}\n---\nWork.\n", "x".repeat(60_000));
            bench.world.write(&format!("project/.claude/agents/a{number:02}.md"), text);
        }
        assert_eq!(bench.event("ConfigChange").contains(r#""decision":"block""#), waits, "{files}");
    }
}
