//! The summary of `fusebox run`: in which word it says how a command came to its end.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{FUSEBOX, TestWorld};

/// A client's lines that send a prompt and so many calls.
fn calls(count: u32) -> String {
    let event = |name: &str, rest: &str| {
        format!(
            "echo '{{\"session_id\":\"one\",\"transcript_path\":\"\",\"cwd\":\"/\",\"prompt_id\":\"p\",\
             \"hook_event_name\":\"{name}\"{rest}}}' | {FUSEBOX} hook >/dev/null\n"
        )
    };
    let call = |number: u32| {
        event("PreToolUse", &format!(",\"tool_name\":\"Read\",\"tool_input\":{{}},\"tool_use_id\":\"t{number}\""))
    };
    event("UserPromptSubmit", ",\"prompt\":\"go\"") + &(0..count).map(call).collect::<String>()
}

/// A command and how it ends.
struct Case {
    limits: &'static str,
    options: &'static [&'static str],
    client: String,
    /// What the summary says in `ended`, `stop_reason`, `signal`, `client_exit_code` and `exit_code`.
    says: [Value; 5],
}

fn cases() -> Vec<Case> {
    let ends = r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
    let pauses = r#"{"main": {"max_turns": 1, "timeout_action": "pause"}}"#;
    let blocks = r#"{"session": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
    let none = Value::Null;
    let case = |limits, client: &str, says: [Value; 5]| Case { limits, options: &[], client: client.to_owned(), says };
    let after = |lines: &str| calls(1) + lines;
    let mut cases = vec![
        case("{}", &after("exit 0"), [json!("completed"), none.clone(), none.clone(), json!(0), json!(0)]),
        case("{}", &after("exit 1"), [json!("client_failed"), none.clone(), none.clone(), json!(1), json!(1)]),
        case("{}", &after("kill -TERM $$"), [json!("signal"), none.clone(), json!(15), json!(143), json!(143)]),
        case("{}", &after("kill -KILL $$"), [json!("signal"), none.clone(), json!(9), json!(137), json!(137)]),
        case("{}", "exit 0", [json!("unheard"), none.clone(), none.clone(), json!(0), json!(0)]),
        case("{}", "exit 1", [json!("client_failed"), none.clone(), none.clone(), json!(1), json!(1)]),
        case(ends, &calls(2), [json!("stopped"), json!("turn_limit_reached"), none.clone(), json!(0), json!(3)]),
        case(
            ends,
            &(calls(2) + "kill -TERM $$"),
            [json!("stopped"), json!("turn_limit_reached"), json!(15), json!(143), json!(3)],
        ),
        case(pauses, &calls(2), [json!("paused"), json!("turn_limit_reached"), none.clone(), json!(0), json!(3)]),
        case(
            pauses,
            &(calls(2) + &format!("{FUSEBOX} stop one >/dev/null\n")),
            [json!("stopped"), json!("explicit_stop"), none.clone(), json!(0), json!(3)],
        ),
        case(
            blocks,
            &format!("{}{}", calls(2), calls(0).replace("\"p\"", "\"p2\"")),
            [json!("blocked"), json!("turn_limit_reached"), none.clone(), json!(0), json!(3)],
        ),
        case(
            "{}",
            &after("rm -r $FUSEBOX_HOME; echo > $FUSEBOX_HOME"),
            [json!("unknown"), none.clone(), none.clone(), json!(0), json!(3)],
        ),
    ];
    cases.push(Case {
        client: "absent".to_owned(),
        ..case("{}", "", [json!("not_started"), none.clone(), none.clone(), none.clone(), json!(1)])
    });
    let strict = Case {
        options: &["--strict"],
        ..case("{", "exit 0", [json!("not_started"), none.clone(), none.clone(), none.clone(), json!(3)])
    };
    cases.push(strict);
    cases
}

/// Returns the words that the page has for `ended`.
fn words_of_page() -> BTreeSet<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let (_, table) = page.split_once("| `ended` |").unwrap();
    let rows = table.split("\n\n").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned()).collect()
}

#[test]
fn the_summary_says_in_a_fixed_word_how_the_command_ended() {
    let mut said = BTreeSet::from([while_it_runs()]);
    for Case { limits, options, client, says } in cases() {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", limits);
        if client != "absent" {
            world.script("bin/client", &client);
        }
        let ran = world.run(&[&["run", "--summary", "summary.json"], options, &["client"]].concat());
        let summary = world.read("project/summary.json").unwrap_or_else(|| panic!("{client}\n{ran}"));
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let fields = ["ended", "stop_reason", "signal", "client_exit_code", "exit_code"];
        assert_eq!(fields.map(|field| summary[field].clone()), says, "{client}\n{ran}\n{summary}");
        assert_eq!(json!(ran.code), says[4], "{ran}");
        said.insert(says[0].as_str().unwrap().to_owned());
    }
    assert_eq!(said, words_of_page(), "said, and in docs/ci.md");
}

/// What has stopped the main agent needs nothing, and its session is held besides.
#[test]
fn what_a_stop_advises_lifts_what_else_blocks_the_next_prompt() {
    for (order, lifts) in [("pause", "`fusebox resume one`, then `"), ("stop", "`fusebox resume one`, then `")] {
        let world = TestWorld::new();
        let limits = json!({"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}});
        world.write("home/.claude/fusebox.json", limits.to_string());
        world.script("bin/client", &(calls(2) + &format!("{FUSEBOX} {order} one >/dev/null\n")));
        let ran = world.run(&["run", "client"]);
        assert!(ran.stderr.contains("stopped: ") && ran.stderr.contains(lifts), "{order}: {ran}");
    }
}

/// Returns the word that a client reads itself while it works.
fn while_it_runs() -> String {
    let world = TestWorld::new();
    world.write("project/summary.json", json!({"ended": "completed", "client_exit_code": 0}).to_string());
    world.script("bin/client", "cat summary.json");
    let read = world.run(&["run", "--summary", "summary.json", "client"]).stdout;
    let summary: Value = serde_json::from_str(&read).unwrap();
    assert_eq!(summary["exit_code"], Value::Null, "{read}");
    summary["ended"].as_str().unwrap().to_owned()
}

/// Before anything is spent.
#[test]
fn a_summary_that_cannot_be_written_is_an_error_before_the_start() {
    let world = TestWorld::new();
    world.write("project/file", "");
    world.write("project/folder/file", "");
    world.script("bin/client", "echo started");
    world.write("project/notes.json", "{\"of\": \"somebody\"}");
    for place in ["file/summary.json", "folder", "/dev/null", "notes.json"] {
        let ran = world.run(&["run", "--summary", place, "client"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran}");
        let is_said = ran.stderr.starts_with(&format!("error: cannot write `{place}`: "));
        assert!(is_said && ran.stderr.contains("; the command was not started\n  hint: "), "{ran}");
    }
    // It can become so while the client works.
    world.script("bin/client", "rm summary.json; mkdir summary.json; exit 7");
    let ran = world.run(&["run", "--summary", "summary.json", "client"]);
    assert!(ran.code == 3 && ran.stderr.contains("error: cannot write `summary.json`: it is not a file\n"), "{ran}");
}

/// Returns the lines by which a client's script sends an event of a session.
fn event(world: &TestWorld, session: &str, name: &str, rest: &Value) -> String {
    let event = world.event(session, &format!("p-{session}"), name, rest);
    format!("echo '{event}' | CLAUDE_PID=$$ {FUSEBOX} hook >/dev/null\n")
}

/// Has a client work that starts another one below it; returns what `fusebox run --strict` and its summary say.
fn with_client_below(limits: &str, between: &str, calls_below: u32) -> (crate::world::Outcome, Value) {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", limits);
    world.run(&["init"]).ok();
    let begins = |session: &str| {
        let start = event(&world, session, "SessionStart", &json!({"source": "startup"}));
        start + &event(&world, session, "UserPromptSubmit", &json!({"prompt": "go"}))
    };
    let call = |number: u32| {
        let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{number}")});
        event(&world, "below", "PreToolUse", &call)
    };
    world.script("bin/below", &(begins("below") + &(0..calls_below).map(call).collect::<String>()));
    let ends = event(&world, "above", "Stop", &json!({"stop_hook_active": false}));
    world.script("bin/client", &format!("{}{between}\nbelow\n{ends}", begins("above")));
    let ran = world.run(&["run", "--strict", "--summary", "summary.json", "client"]);
    let summary = serde_json::from_str(&world.read("project/summary.json").unwrap()).unwrap();
    (ran, summary)
}

/// The main agent could go on, so it is no stop of the job; `--strict` takes it for one all the same.
#[test]
fn what_became_of_a_client_below_is_said_and_is_no_stop_of_the_main_agent() {
    let ends = r#"{"main": {"max_turns": 1, "timeout_action": "terminate", "grace_turns": 0}}"#;
    let pauses = r#"{"main": {"max_turns": 1, "timeout_action": "pause"}}"#;
    let off = r#"echo '{"disableAllHooks": true}' >.claude/settings.json"#;
    for (limits, between, calls, said) in [
        (
            ends,
            "",
            2,
            Some(
                "a client that an agent started was stopped: tool calls 1/1 (max_turns, user). More: `fusebox explain below`",
            ),
        ),
        (
            pauses,
            "",
            2,
            Some(
                "a client that an agent started was paused: tool calls 1/1 (max_turns, user). More: `fusebox explain below`",
            ),
        ),
        ("{}", off, 1, Some("a client that an agent started was refused, since its settings ")),
        ("{}", "", 1, None),
    ] {
        let (ran, summary) = with_client_below(limits, between, calls);
        assert_eq!(summary["sessions"].as_array().unwrap().len(), 2, "{ran}");
        assert_eq!((&summary["ended"], &summary["stopped"]), (&json!("completed"), &Value::Null), "{ran}");
        assert_eq!(ran.code, if said.is_some() { 3 } else { 0 }, "{ran}");
        let remarks: Vec<&str> = summary["remarks"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let why = "exit code 3: a client that an agent started was stopped or refused";
        assert!(remarks.iter().skip(1).eq(said.map(|_| &why)), "{ran}");
        assert!(said.is_none_or(|said| remarks[0].starts_with(said) && ran.stderr.contains(said)), "{ran}");
    }
}
