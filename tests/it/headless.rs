//! After a stop without a person at the terminal: each command gives the same next step, with the options that the client had.

use serde_json::{Value, json};

use crate::world::{FUSEBOX, TestWorld};

/// What the client is given beside its prompt.
const OPTIONS: &str = "--model opus --dangerously-skip-permissions";

/// A policy that stops work, and whether something has to be given before that goes on.
const STOPS: [(&str, bool); 5] = [
    (r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#, false),
    (r#"{"main": {"max_turns": 1, "timeout_action": "pause"}}"#, true),
    (r#"{"session": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#, true),
    (r#"{"session": {"max_cost_usd": 0.05, "timeout_action": "terminate", "grace_turns": 0}}"#, true),
    (r#"{"session": {"max_turns": 1, "timeout_action": "pause"}}"#, true),
];

/// Runs a client that makes two calls; returns the world and what `fusebox run` said. What its last response cost comes at its end.
fn stopped(policy: &str) -> (TestWorld, String) {
    stopped_by(policy, true)
}

/// The same; where the client is killed it tells no hook of its end.
fn stopped_by(policy: &str, tells_end: bool) -> (TestWorld, String) {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", policy);
    std::os::unix::fs::symlink(FUSEBOX, world.path("bin/fusebox")).unwrap();
    world.run(&["init", "--scope", "user"]).ok();
    let call = |id: &str| json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
    let row = |id: &str| {
        let usage = json!({"input_tokens": 10, "output_tokens": 1000, "cache_creation_input_tokens": 1000});
        json!({"type": "assistant", "message": {"id": id, "model": "claude-opus-5-5", "usage": usage}}).to_string()
    };
    let events: [(&str, Value); 6] = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "go"})),
        ("PreToolUse", call("t1")),
        ("PostToolBatch", json!({"tool_calls": [call("t1")]})),
        ("PreToolUse", call("t2")),
        ("SessionEnd", json!({"reason": "other"})),
    ];
    let mut script = String::new();
    for (at, (name, rest)) in events.iter().take(events.len() - usize::from(!tells_end)).enumerate() {
        world.write(&format!("e{at}"), world.event("one", "p", name, rest).to_string());
        world.write(&format!("r{at}"), row(&format!("m{at}")) + "\n");
        script += &format!("cat ../r{at} >>../one.jsonl\nCLAUDE_PID=$$ fusebox hook <../e{at} >/dev/null\n");
    }
    world.write("late", row("late") + "\n");
    world.script("bin/claude", &(script + "cat ../late >>../one.jsonl\n"));
    let options: Vec<&str> = OPTIONS.split(' ').collect();
    let ran = world.run(&[&["run", "--summary", "summary.json", "--", "claude", "-p", "do it"], &options[..]].concat());
    assert_eq!(ran.code, 3, "{ran}");
    (world, ran.stderr)
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_command_gives_one_next_step_with_the_options_of_the_client() {
    let again = format!("fusebox run --summary summary.json -- claude -p --resume one 'go on' {OPTIONS}");
    for (policy, is_held) in STOPS {
        let (world, said) = stopped(policy);
        assert!(said.contains(&again), "{policy}: {said}");
        for command in [&["status", "--all"][..], &["explain", "one"], &["explain", "p"], &["report"]] {
            let text = world.run(command).ok();
            // A shell that is given a command in backticks runs what that writes.
            let is_quoted = |line: &str| line.trim().starts_with('`') && line.trim().ends_with('`');
            assert!(!text.lines().any(is_quoted), "{policy}: {command:?}: {text}");
            let told = flat(&text);
            let is_told = command == ["explain", "one"] || told.contains(&again);
            assert!(is_told, "{policy}: {command:?}: {told}");
        }
        if is_held {
            let lifts = said.split("`fusebox ").find(|it| it.starts_with("grant") || it.starts_with("resume")).unwrap();
            let lifts: Vec<&str> = lifts.split('`').next().unwrap().split(' ').collect();
            let told = flat(&world.run(&lifts).ok());
            assert!(told.contains(&again), "{policy}: {lifts:?}: {told}");
            let told = flat(&world.run(&["status", "--all"]).ok());
            assert!(told.contains(&again), "{policy}: status after {lifts:?}: {told}");
        }
    }
}

/// More may have been spent after the stop: by a last report, and by what the transcript has late.
#[test]
fn the_last_words_of_a_run_have_the_figure_of_the_end() {
    let (world, said) = stopped(STOPS[3].0);
    let status = flat(&world.run(&["status", "--all"]).ok());
    let now =
        status.split("; ").find_map(|rest| Some(rest.split_once(" USD now")?.0)).unwrap_or_else(|| panic!("{status}"));
    assert!(said.contains(&format!("; {now} USD now")), "{said}\n{status}");
    for who in ["user", "project"] {
        let limits = json!({who: {"max_cost_usd_per_day": 0.05, "timeout_action": "terminate"}});
        let (world, said) = stopped(&limits.to_string());
        let budgets: Value = serde_json::from_str(&world.run(&["status", "--json"]).ok()).unwrap();
        let used: f64 = budgets["budgets"][0]["used"].as_str().unwrap().parse().unwrap();
        let now = said.split("; ").find_map(|rest| rest.split_once(" USD now")?.0.parse::<f64>().ok());
        assert!(now.is_some_and(|now| (now - used).abs() < 0.006), "{who}: {used}: {said}");
    }
}

/// Whatever is granted, to whom, and however the client has ended: the answer has the same command.
#[test]
fn a_grant_gives_the_command_that_goes_on_also_where_the_client_told_no_end_or_sessions_share_the_limit() {
    let again = format!("fusebox run --summary summary.json -- claude -p --resume one 'go on' {OPTIONS}");
    for (policy, grant) in [
        (STOPS[0].0, "grant p max_turns=+9"),
        (STOPS[2].0, "grant one max_turns=+9"),
        (STOPS[3].0, "grant one max_cost_usd=+5"),
        (
            r#"{"user": {"max_cost_usd_per_day": 0.05, "timeout_action": "terminate"}}"#,
            "grant user max_cost_usd_per_day=+5",
        ),
    ] {
        for tells_end in [true, false] {
            let (world, said) = stopped_by(policy, tells_end);
            assert!(said.contains(&again), "{policy}: {said}");
            let told = flat(&world.run(&grant.split(' ').collect::<Vec<_>>()).ok());
            assert!(told.contains(&again), "{policy}: {tells_end}: {told}");
        }
    }
}

/// The client has not kept a prompt that was blocked: who goes on with it has to send it.
#[test]
fn a_blocked_prompt_is_sent_again_and_not_gone_on_with() {
    let (world, _) = stopped(r#"{"user": {"max_cost_usd_per_day": 0.05, "timeout_action": "terminate"}}"#);
    let events = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "fix it"})),
        ("SessionEnd", json!({"reason": "other"})),
    ];
    for (at, (name, rest)) in events.iter().enumerate() {
        world.write(&format!("b{at}"), world.event("two", "q", name, rest).to_string());
    }
    world.script("bin/claude", "for at in 0 1 2; do CLAUDE_PID=$$ fusebox hook <../b$at >/dev/null; done");
    let ran = world.run(&["run", "--", "claude", "-p", "fix it", "--allowedTools", "Read", "Edit"]);
    assert_eq!(ran.code, 3, "{ran}");
    // The prompt is typed behind it: an option that takes many words would take it for its own there.
    let again = "fusebox run -- claude --allowedTools Read Edit -p --resume two";
    for grant in [None, Some(["grant", "user", "max_cost_usd_per_day=+5"])] {
        if let Some(grant) = grant {
            world.run(&grant).ok();
        }
        for command in ["status", "report"] {
            let words = if command == "status" { &["status", "--all"][..] } else { &["report", "--since", "all"] };
            let told = flat(&world.run(words).ok());
            assert!(
                told.contains(again) && told.contains("type the prompt behind it") && !told.contains("two 'go on'"),
                "{grant:?}: {told}"
            );
            // The session that was stopped needs no grant either, once there is room again.
            assert!(told.contains("--resume one 'go on'"), "{grant:?}: {told}");
            assert_eq!(told.contains("fusebox grant user"), grant.is_none(), "{told}");
        }
    }
}
