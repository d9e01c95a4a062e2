//! Hooks that ask the model ask it whatever is answered: the call that brings more of them than a limit has room for is refused.

use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::{TestWorld, with};

/// How many requests the session may make.
const CAP: u64 = 12;

/// The events at which hooks are tried.
const EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "PostToolBatch", "Stop"];

/// Frontmatter with so many hooks of type `agent` at an event.
fn frontmatter(name: &str, event: &str, hooks: u64) -> String {
    let hooks: String =
        (0..hooks).map(|number| format!("        - type: agent\n          prompt: is {number} well?\n")).collect();
    format!(
        "---\nname: {name}\ndescription: d\nhooks:\n  {event}:\n    - matcher: '*'\n      hooks:\n{hooks}---\nWork.\n"
    )
}

/// Whether a call is let run in a session with few requests left, whose world is laid out first.
fn is_let_run(lay_out: impl FnOnce(&mut TestWorld), call: &Value) -> bool {
    let policy = json!({"session": {"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate"}});
    let story = Story::with(&policy, lay_out);
    story.write(&["m0"]);
    !story.event("PreToolUse", &with(json!({"tool_use_id": "t0"}), call)).contains("\"deny\"")
}

#[test]
fn a_skill_whose_hooks_find_no_room_is_refused() {
    for event in EVENTS {
        for (hooks, runs) in [(1, true), (40, false)] {
            let lay_out = |world: &mut TestWorld| {
                world.write("project/.claude/skills/sk/SKILL.md", frontmatter("sk", event, hooks));
            };
            let call = json!({"tool_name": "Skill", "tool_input": {"skill": "sk"}});
            assert_eq!(is_let_run(lay_out, &call), runs, "{hooks} at {event}");
        }
    }
}

#[test]
fn an_agent_whose_types_hooks_find_no_room_is_not_started() {
    for event in EVENTS {
        for (hooks, runs) in [(1, true), (40, false)] {
            let lay_out = |world: &mut TestWorld| {
                world.write("project/.claude/agents/worker.md", frontmatter("worker", event, hooks));
            };
            let call = json!({"tool_name": "Agent", "tool_input": {"subagent_type": "worker", "prompt": "work", "description": "d"}});
            assert_eq!(is_let_run(lay_out, &call), runs, "{hooks} at {event}");
        }
    }
}

/// Those of the settings are known from the start: a call is refused where those at its end find no room.
#[test]
fn a_call_at_whose_end_more_hooks_ask_than_there_is_room_for_is_refused() {
    for event in ["PostToolUse", "PostToolBatch"] {
        for (matcher, runs) in [("Read", true), ("Bash", event == "PostToolUse"), ("*", false)] {
            let lay_out = |world: &mut TestWorld| {
                let number = if runs && matcher == "Read" { 1 } else { 40 };
                let hooks: Vec<Value> =
                    (0..number).map(|it| json!({"type": "prompt", "prompt": format!("is {it} well?")})).collect();
                let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}});
                world.write("project/.claude/settings.json", settings.to_string());
            };
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
            assert_eq!(is_let_run(lay_out, &call), runs, "{matcher} at {event}");
        }
    }
}

/// The calls of one batch are asked about before any of them ends: each has room only beside those that were let run.
#[test]
fn the_calls_of_a_batch_share_the_room_for_their_hooks() {
    for (hooks, batch, run) in [(1, 20, 11), (3, 20, 3), (1, 5, 5)] {
        let policy = json!({"session": {"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate"}});
        let story = Story::with(&policy, |world| {
            let hooks: Vec<Value> =
                (0..hooks).map(|it| json!({"type": "prompt", "prompt": format!("is {it} well?")})).collect();
            let settings = json!({"hooks": {"PostToolUse": [{"matcher": "*", "hooks": hooks}]}});
            world.write("project/.claude/settings.json", settings.to_string());
        });
        story.write(&["m0"]);
        let is_let_run = |number: &u64| {
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": number.to_string()}, "tool_use_id": format!("t{number}")});
            !story.event("PreToolUse", &call).contains("\"deny\"")
        };
        let let_run = (0..batch).filter(is_let_run).count();
        assert!(let_run == run, "{hooks} hooks at each of {batch} calls: {let_run} were let run");
    }
}

/// A hook that is an agent may answer in words, and is asked once more then.
#[test]
fn a_hook_that_is_an_agent_takes_the_room_of_two() {
    for (kind, hooks, runs) in [("prompt", 10, true), ("agent", 5, true), ("agent", 7, false)] {
        let lay_out = |world: &mut TestWorld| {
            let hooks: Vec<Value> =
                (0..hooks).map(|it| json!({"type": kind, "prompt": format!("is {it} well?")})).collect();
            let settings = json!({"hooks": {"PostToolUse": [{"hooks": hooks}]}});
            world.write("project/.claude/settings.json", settings.to_string());
        };
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
        assert_eq!(is_let_run(lay_out, &call), runs, "{hooks} of type {kind}");
    }
}

/// A call has room as long as its hooks have: nothing is taken for the next request before the batch ends.
#[test]
fn a_call_with_one_hook_runs_with_one_request_left() {
    let policy = json!({"session": {"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate"}});
    let story = Story::with(&policy, |world| {
        let settings = json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "prompt", "prompt": "well?"}]}]}});
        world.write("project/.claude/settings.json", settings.to_string());
    });
    story.batch("b0");
    let ids: Vec<String> = (0..CAP - 1).map(|number| format!("m{number}")).collect();
    story.write(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t0"});
    assert!(!story.event("PreToolUse", &call).contains("\"deny\""));
}

/// However many skills were called before, the hooks of the next are counted.
#[test]
fn a_skill_behind_many_others_brings_its_hooks_too() {
    let policy = json!({"session": {"max_requests": 100, "grace_turns": 0, "timeout_action": "terminate"}});
    let story = Story::with(&policy, |world| {
        for number in 0..70 {
            let text = frontmatter(&format!("sk{number}"), "Notification", 1).replace("'*'", &format!("Never{number}"));
            world.write(&format!("project/.claude/skills/sk{number}/SKILL.md"), text);
        }
        world.write("project/.claude/skills/last/SKILL.md", frontmatter("last", "PostToolUse", 200));
    });
    story.write(&["m0"]);
    let call = |name: &str| json!({"tool_name": "Skill", "tool_input": {"skill": name}, "tool_use_id": name, "tool_response": "x"});
    for number in 0..70 {
        story.event("PostToolUse", &call(&format!("sk{number}")));
    }
    assert!(story.event("PreToolUse", &call("last")).contains("\"deny\""));
}

/// A session with few requests left in a project whose settings have so many hooks of type `prompt` at an event.
fn with_hooks(policy: &Value, event: &str, hooks: u64) -> Story {
    let world = TestWorld::new();
    let hooks: Vec<Value> =
        (0..hooks).map(|it| json!({"type": "prompt", "prompt": format!("is {it} well?")})).collect();
    world.write("project/.claude/settings.json", json!({"hooks": {event: [{"hooks": hooks}]}}).to_string());
    world.write("home/.claude/fusebox.json", policy.to_string());
    Story { world }
}

fn policy_of(scope: &str) -> Value {
    json!({scope: {"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate"}})
}

/// Nothing refuses the hooks of a response: those before its call, at the end of its batch, and at the end of the turn.
#[test]
fn a_prompt_is_sent_where_the_hooks_of_its_response_find_room() {
    for event in ["PreToolUse", "PostToolBatch", "Stop"] {
        for scope in ["session", "main"] {
            for (hooks, is_sent) in [(1, true), (CAP - 1, true), (CAP, false), (500, false)] {
                let story = with_hooks(&policy_of(scope), event, hooks);
                let answer = story.event("UserPromptSubmit", &json!({"prompt": "go"}));
                assert_eq!(!answer.contains("\"block\""), is_sent, "{hooks} at {event} for {scope}: {answer}");
            }
        }
    }
}

/// A run that only begins can be given nothing: a person is asked at its first call.
#[test]
fn a_prompt_whose_own_run_would_ask_is_sent() {
    for (scope, is_sent) in [("main", true), ("session", false)] {
        let policy = json!({scope: {"max_requests": CAP, "timeout_action": "request_increase"}});
        let answer = with_hooks(&policy, "PreToolUse", CAP).event("UserPromptSubmit", &json!({"prompt": "go"}));
        assert_eq!(!answer.contains("\"block\""), is_sent, "{scope}: {answer}");
    }
}

/// Where a report may follow, the hooks of a call ask twice, and those at the end of the turn once.
#[test]
fn a_report_leaves_room_for_hooks_of_calls_twice_and_for_those_of_the_end_once() {
    for (event, hooks, is_sent) in
        [("PreToolUse", 5, true), ("PreToolUse", 6, false), ("Stop", CAP - 2, true), ("Stop", CAP - 1, false)]
    {
        let policy = json!({"session": {"max_requests": CAP, "grace_turns": 1, "timeout_action": "terminate"}});
        let answer = with_hooks(&policy, event, hooks).event("UserPromptSubmit", &json!({"prompt": "go"}));
        assert_eq!(!answer.contains("\"block\""), is_sent, "{hooks} at {event}: {answer}");
    }
}

#[test]
fn a_request_is_made_where_the_hooks_of_its_response_find_room() {
    for event in ["PreToolUse", "Stop"] {
        for (used, goes_on) in [(CAP - 6, true), (CAP - 5, false)] {
            let story = with_hooks(&policy_of("session"), event, 5);
            story.event("UserPromptSubmit", &json!({"prompt": "go"}));
            let ids: Vec<String> = (0..used).map(|number| format!("m{number}")).collect();
            story.write(&ids.iter().map(String::as_str).collect::<Vec<_>>());
            let answer = story.batch("t0");
            assert_eq!(!answer.contains("\"continue\":false"), goes_on, "{used} used, {event}: {answer}");
        }
    }
}

/// Each agent that is started may ask its hooks as soon as it answers.
#[test]
fn agents_are_started_where_the_hooks_at_their_ends_find_room() {
    for (hooks, started) in [(1, 5), (5, 1), (11, 0)] {
        let story = with_hooks(&policy_of("session"), "SubagentStop", hooks);
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        story.write(&["m0"]);
        let is_started = |number: &u64| {
            let input = json!({"subagent_type": "worker", "prompt": "work", "description": "d"});
            let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": format!("t{number}")});
            !story.event("PreToolUse", &call).contains("\"deny\"")
        };
        assert_eq!((0..20).filter(is_started).count(), started, "{hooks} hooks");
    }
}

/// What hooks of one tool ask is asked for no other: a response has room for the tool with the most.
#[test]
fn hooks_of_different_tools_take_the_room_of_the_most() {
    let world = TestWorld::new();
    let of = |tool: &u64| json!({"matcher": format!("Tool{tool}"), "hooks": [{"type": "prompt", "prompt": "well?"}]});
    let groups: Vec<Value> = (0..40).map(|tool| of(&tool)).collect();
    world.write("project/.claude/settings.json", json!({"hooks": {"PreToolUse": groups}}).to_string());
    world.write("home/.claude/fusebox.json", policy_of("session").to_string());
    let answer = Story { world }.event("UserPromptSubmit", &json!({"prompt": "go"}));
    assert!(!answer.contains("block"), "{answer}");
}

/// What is passed all the same, such as by more responses than were on disk, is told at the end.
#[test]
fn a_limit_that_hooks_have_passed_at_the_end_is_told() {
    // Without hooks nothing but its own last response passes it: its work is complete.
    for (used, hooks, is_passed) in [(CAP - 5, 5, false), (CAP - 4, 5, true), (CAP + 2, 0, false)] {
        let story = with_hooks(&policy_of("session"), "Stop", hooks);
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        let ids: Vec<String> = (0..used).map(|number| format!("m{number}")).collect();
        story.write(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let answer = story.event("Stop", &json!({}));
        assert_eq!(answer.contains("is used, and more"), is_passed, "{used} used: {answer}");
        let run = story.state().1.remove(0);
        let reason = is_passed.then_some("request_limit_reached");
        assert_eq!((run.stop_reason.as_deref(), run.error.is_some()), (reason, is_passed), "{used} used");
        let said = story.world.run(&["explain", "s1"]).ok();
        assert_eq!(said.contains("Nothing was stopped: its work was done"), is_passed, "{said}");
        assert!(!said.contains("partial"), "{said}");
    }
}

/// An agent that ends by itself has nothing in flight, whatever its hooks have passed, and though what tells its call comes with its end.
#[test]
fn nothing_is_in_flight_for_an_agent_whose_hooks_pass_a_limit_at_its_end() {
    for cap in [3, 30] {
        let policy = json!({"agents": {"worker": {"max_requests": cap, "timeout_action": "terminate"}}});
        let story = with_hooks(&policy, "SubagentStop", 3);
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        let input = json!({"subagent_type": "worker", "prompt": "work", "description": "d"});
        let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "t0"});
        assert!(!story.event("PreToolUse", &call).contains("\"deny\""));
        // The response that asks for it comes late, so that two requests are taken to be in flight.
        story.write(&["m0"]);
        let agent = json!({"agent_id": "a1", "agent_type": "worker"});
        story.event("SubagentStart", &agent);
        let transcript = "s1/subagents/agent-a1.jsonl";
        let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 2000});
        let message = json!({"id": "m1", "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": story.now(), "message": message});
        story.world.write(transcript, "");
        let meta = json!({"agentType": "worker", "toolUseId": "t0", "spawnDepth": 1});
        story.world.write("s1/subagents/agent-a1.meta.json", meta.to_string());
        let end = json!({"agent_transcript_path": story.world.path(transcript), "last_assistant_message": "done"});
        story.world.append(transcript, format!("{row}\n"));
        story.event("SubagentStop", &with(end, &agent));
        let (session, runs) = story.state();
        let worker = runs.iter().find(|run| run.id == "a1").unwrap();
        assert_eq!((worker.counters.spent.requests, session.counters.spent.requests), (4, 5), "of {cap}");
        assert_eq!(session.reservations, [], "of {cap}");
    }
}

/// Charges for hooks at a call: for those that the client runs there, at the price of the model that they ask.
#[test]
fn hooks_are_charged_where_they_run_and_at_their_own_models_price() {
    let dear = json!({"type": "prompt", "prompt": "well?", "model": "claude-opus-4-1"});
    let cheap = json!({"type": "prompt", "prompt": "well?", "model": "claude-haiku-4-5"});
    let plain = json!({"type": "prompt", "prompt": "well?"});
    // 4,000 tokens in and 300 out: at 15 and 75, at 1 and 5, and at 4 and 20 dollars a million.
    for (matcher, hook, cost_micro_usd) in [
        ("Read", &dear, 82_500),
        ("Read", &cheap, 5_500),
        ("Read", &plain, 22_000),
        ("Edit, Read", &plain, 22_000),
        ("^(Edit|Read)$", &plain, 22_000),
        ("R.*", &plain, 22_000),
        ("mcp__github__.*", &plain, 0),
        ("^(Edit|Write)$", &plain, 0),
        ("Notebook.*", &plain, 0),
        ("Edit, Write", &plain, 0),
    ] {
        let world = TestWorld::new();
        let hooks = json!({"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]});
        world.write("project/.claude/settings.json", json!({"hooks": hooks}).to_string());
        let story = Story { world };
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_use_id": "t0"}));
        assert_eq!(story.cost().0, cost_micro_usd * 1_000_000, "{matcher} {hook}");
    }
}

/// The client reads settings of nearly two megabytes.
#[test]
fn hooks_of_a_long_settings_file_are_charged() {
    let world = TestWorld::new();
    let hooks = json!({"PreToolUse": [{"matcher": "Task|Read", "hooks": [{"type": "prompt", "prompt": "well?"}]}]});
    let settings = json!({"padding": "x".repeat(1_900_000), "hooks": hooks});
    world.write("project/.claude/settings.json", settings.to_string());
    let story = Story { world };
    story.event("UserPromptSubmit", &json!({"prompt": "go"}));
    story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_use_id": "t0"}));
    assert_eq!(story.state().0.counters.spent.requests, 1);
}

/// A hook's `if` is a permission rule: where a call surely does not meet it, the client does not ask.
#[test]
fn hooks_are_charged_where_their_rule_may_be_met() {
    for (rule, calls, others) in [
        ("Bash", &["ls"][..], &[][..]),
        ("Read", &[], &["ls", "git push"]),
        ("Bash(*)", &["ls"], &[]),
        (
            "Bash(git push *)",
            &["git push", "cd x && g'it' push", "x; git -C . push"],
            &["git log", "cargo test 2>&1 | tail -5"],
        ),
        (
            "Bash(git:*)",
            &["git log", "echo $x", "echo `x`", "echo x > y", "case", "exec readonly", "x=1 y"],
            &["ls -la"],
        ),
    ] {
        for (command, count) in calls.iter().map(|it| (it, 1)).chain(others.iter().map(|it| (it, 0))) {
            for event in ["PreToolUse", "PostToolUse"] {
                let world = TestWorld::new();
                let hook = json!({"type": "prompt", "prompt": "well?", "if": rule});
                let group = json!([{"hooks": [hook]}]);
                // At an event without a tool such a hook never runs.
                let hooks = json!({event: group, "UserPromptSubmit": group});
                world.write("project/.claude/settings.json", json!({"hooks": hooks}).to_string());
                let story = Story { world };
                let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t0"});
                story.event("UserPromptSubmit", &json!({"prompt": "go"}));
                story.event("PreToolUse", &call);
                story.event("PostToolUse", &with(json!({"tool_response": {"stdout": ""}}), &call));
                assert_eq!(story.state().0.counters.spent.requests, count, "{command} for {rule} at {event}");
            }
        }
    }
}

/// Of hooks that say the same the client runs one, in however many settings files they stand; those of a policy count by themselves.
#[test]
fn a_hook_that_stands_twice_in_settings_is_charged_once() {
    let hook = json!({"type": "prompt", "prompt": "well?"});
    let other = json!({"type": "prompt", "prompt": "really?"});
    let late = with(json!({"timeout": 9}), &hook);
    let ruled = with(json!({"if": "Read"}), &hook);
    for (first, second, count) in [
        (json!([hook]), json!([hook]), 1),
        (json!([hook, hook]), json!([]), 1),
        (json!([hook]), json!([late]), 1),
        (json!([hook]), json!([ruled]), 2),
        (json!([hook]), json!([other, hook]), 2),
    ] {
        let world = TestWorld::new();
        let settings = |hooks: &Value| json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}).to_string();
        world.write("home/.claude/settings.json", settings(&first));
        world.write("project/.claude/settings.json", settings(&second));
        let story = Story { world };
        story.event("UserPromptSubmit", &json!({"prompt": "go"}));
        story.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_use_id": "t0"}));
        assert_eq!(story.state().0.counters.spent.requests, count, "{first} and {second}");
    }
}
