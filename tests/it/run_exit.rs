//! What makes `fusebox run --strict` end with 3: its last line says which, and docs/ci.md lists them all.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fusebox::cmd::run_exit::CAUSES;
use serde_json::{Value, json};

use crate::world::{FUSEBOX, Outcome, TestWorld, with};

/// How the last line begins.
const SAYS: &str = "fusebox: exit code 3: ";

/// A command, and in which words its last line says why it ends with 3.
struct Case {
    says: &'static str,
    limits: &'static str,
    /// What is there besides before it begins.
    before: fn(&TestWorld),
    /// What the client tells its hooks.
    events: Vec<Value>,
    /// What it does then.
    then: &'static str,
    command: &'static [&'static str],
}

fn prompt(id: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt": "go", "prompt_id": id})
}

fn call(id: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id})
}

fn spawn() -> Value {
    let input = json!({"prompt": "work", "description": "work", "subagent_type": "worker"});
    json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": input, "tool_use_id": "a"})
}

fn of_worker(id: &str) -> Value {
    with(call(id), &json!({"agent_id": "a1", "agent_type": "worker"}))
}

fn plain(says: &'static str, limits: &'static str, events: Vec<Value>) -> Case {
    Case { says, limits, before: |_| {}, events, then: "", command: &["client"] }
}

/// A client that an agent starts: it makes two calls in a session of its own.
const BELOW: &str = "sh -c 'for name in b1 b2 b3 b4; do CLAUDE_PID=$$ fusebox hook <../$name >/dev/null; done'";

fn start() -> Value {
    json!({"hook_event_name": "SessionStart", "source": "startup"})
}

/// Has the machine's owner refuse a repository that brings limits.
fn with_repository(world: &TestWorld) {
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_turns": 3}}"#);
    let own = json!({"refuse_repositories": [world.path("project")]});
    world.write("home/.claude/fusebox.json", own.to_string());
}

fn cases() -> Vec<Case> {
    let ends = r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
    let two = || vec![prompt("p"), call("t1"), call("t2")];
    let one = || vec![prompt("p"), call("t1")];
    let went_by = json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {}, "tool_use_id": "t9",
        "tool_response": {}});
    let below = |world: &TestWorld| {
        for (name, event) in [("b1", start()), ("b2", prompt("b")), ("b3", call("c1")), ("b4", call("c2"))] {
            let event = with(world.event("below", "b", "", &json!({})), &with(event, &json!({"prompt_id": "b"})));
            world.write(name, event.to_string());
        }
    };
    vec![
        plain("a limit or a person stopped the main agent", ends, two()),
        plain(
            "a limit or a person paused the main agent",
            r#"{"main": {"max_turns": 1, "timeout_action": "pause"}}"#,
            two(),
        ),
        plain(
            "the prompt was not sent",
            r#"{"session": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#,
            [two(), vec![prompt("p2")]].concat(),
        ),
        Case { then: "rm -r $FUSEBOX_HOME; echo > $FUSEBOX_HOME", ..plain("the state cannot be read", "{}", one()) },
        plain("the configuration has mistakes", r#"{"session": {"max_turns": "many"}}"#, one()),
        Case { command: &["claude", "-p", "x"], ..plain("no hook of Fusebox is in force", "{}", one()) },
        plain("no hook was heard", "{}", Vec::new()),
        plain(
            "a subagent was stopped or paused",
            r#"{"agents": {"worker": {"max_turns": 1, "grace_turns": 0}}}"#,
            vec![prompt("p"), of_worker("w1"), of_worker("w2")],
        ),
        plain("a subagent was not let start", r#"{"session": {"max_subagents": 0}}"#, [one(), vec![spawn()]].concat()),
        Case {
            before: below,
            then: BELOW,
            ..plain("a client that an agent started was stopped or refused", ends, vec![prompt("p")])
        },
        plain("a call or a client went by without a hook", "{}", [one(), vec![went_by]].concat()),
        Case {
            then: "fusebox team sync --background 2>/dev/null",
            ..plain("a team's cap was not kept", r#"{"team": {"name": "core", "on_stale": "allow"}}"#, one())
        },
        Case {
            before: |world| drop(world.run(&["off", "--for", "1h"]).ok()),
            ..plain("limits were switched off", "{}", one())
        },
        plain("limits were only observed", r#"{"mode": "observe"}"#, one()),
        Case { before: with_repository, ..plain("the repository's limits are refused", "{}", one()) },
        Case {
            command: &["client", "--no-session-persistence"],
            ..plain("the client kept no transcript", "{}", one())
        },
        Case {
            before: |world| world.write("state/state.db", "no database at all".repeat(300)),
            ..plain("a damaged state was set aside", "{}", one())
        },
    ]
}

/// Lays a world out for a case.
fn world_of(case: &Case) -> TestWorld {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", case.limits);
    std::os::unix::fs::symlink(FUSEBOX, world.path("bin/fusebox")).unwrap();
    if case.command != ["claude", "-p", "x"] {
        world.run(&["init", "--scope", "user"]).ok();
    }
    (case.before)(&world);
    world
}

/// Runs a command strictly whose client tells of these events.
fn run(world: &TestWorld, case: &Case, events: &[Value]) -> Outcome {
    let mut script = String::new();
    for (at, event) in events.iter().enumerate() {
        world.write(&format!("e{at}"), world.event("one", "p", "", event).to_string());
        script += &format!("CLAUDE_PID=$$ fusebox hook <../e{at} >/dev/null\n");
    }
    world.script(&format!("bin/{}", case.command[0]), &(script + case.then));
    world.run(&[&["run", "--strict", "--summary", "summary.json", "--"], case.command].concat())
}

fn events_of(case: &Case) -> Vec<Value> {
    let begun = case.events.first().map(|_| start());
    begun.iter().chain(&case.events).cloned().collect()
}

/// Runs a command strictly; returns what its last line says.
fn said(case: &Case) -> String {
    let world = world_of(case);
    let ran = run(&world, case, &events_of(case));
    assert_eq!(ran.code, 3, "{}: {ran}", case.says);
    let last = ran.stderr.lines().last().unwrap();
    let summary: Value = serde_json::from_str(&world.read("project/summary.json").unwrap()).unwrap();
    assert_eq!(format!("fusebox: {}", summary["remarks"].as_array().unwrap().last().unwrap().as_str().unwrap()), last);
    assert!(last.starts_with(SAYS), "{}: {ran}", case.says);
    last.trim_start_matches(SAYS).to_owned()
}

/// What was said of a session once is no matter of the next run that takes it up.
#[test]
fn a_strict_run_ends_with_three_for_nothing_that_an_earlier_one_has_said() {
    let lasting = ["subagent was stopped", "subagent was not let start", "went by without a hook", "switched off"];
    let cases: Vec<Case> =
        cases().into_iter().filter(|case| lasting.iter().any(|part| case.says.contains(part))).collect();
    assert_eq!(cases.len(), lasting.len());
    for case in cases {
        let world = world_of(&case);
        assert_eq!(run(&world, &case, &events_of(&case)).code, 3, "{}", case.says);
        if case.says.contains("switched off") {
            world.run(&["on"]).ok();
        }
        let resumed = json!({"hook_event_name": "SessionStart", "source": "resume"});
        let stopped = json!({"hook_event_name": "Stop"});
        let ran = run(&world, &case, &[resumed, with(prompt("p2"), &json!({"prompt_id": "p2"})), stopped]);
        assert_eq!(ran.code, 0, "{}: {ran}", case.says);
    }
}

/// Returns the words that the page has for the exit code 3.
fn words_of_page() -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let (_, table) = page.split_once("| the last line says |").unwrap();
    let rows = table.split("\n\n").next().unwrap().lines().skip(2);
    rows.map(|row| row.trim_start_matches("| ").split(" |").next().unwrap().to_owned()).collect()
}

#[test]
fn the_last_line_of_a_strict_run_says_why_it_ends_with_three() {
    let mut all = BTreeSet::new();
    for case in cases() {
        assert_eq!(said(&case), case.says);
        all.insert(case.says);
    }
    let known = CAUSES.map(|(_, words)| words);
    assert_eq!(all, BTreeSet::from(known), "each is tried");
    assert_eq!(words_of_page(), known, "and in docs/ci.md");
}
