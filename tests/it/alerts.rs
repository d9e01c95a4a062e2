//! `fusebox watch --once` from outside: what each rule tells of, how often, by which ways, and whose settings count.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use fusebox::messages::alerts;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime, RunningClient};
use crate::world::{FUSEBOX, TestWorld, with};

/// A world whose person has alerts appended to a file, with this besides in their `fusebox.json`.
pub fn world(more: &Value) -> TestWorld {
    let world = TestWorld::with_git();
    let command = format!("cat >> '{}'", world.path("told.jsonl").display());
    let mut alerts = json!({"command": command, "desktop": false});
    if let Some(own) = more.get("alerts") {
        alerts = with(alerts, own);
    }
    let policy = with(with(json!({}), more), &json!({"alerts": alerts}));
    world.write("home/.claude/fusebox.json", policy.to_string());
    world
}

/// Tells a hook of an event of the session `s1`.
pub fn event(world: &TestWorld, time: &GivenTime, name: &str, rest: &Value) {
    let _answer = time.hook(world.event("s1", "p1", name, rest));
}

/// Begins a session with a prompt, and a transcript that was written to at this moment.
pub fn begin(world: &TestWorld, time: &GivenTime) {
    event(world, time, "SessionStart", &json!({"source": "startup"}));
    write_transcript(world, time);
    event(world, time, "UserPromptSubmit", &json!({"prompt": "go"}));
}

/// Has the transcript written to at this moment.
pub fn write_transcript(world: &TestWorld, time: &GivenTime) {
    world.append("s1.jsonl", "{\"type\":\"system\"}\n");
    set_written(world, time);
}

fn set_written(world: &TestWorld, time: &GivenTime) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(time.now_ms().unsigned_abs());
    File::options().append(true).open(world.path("s1.jsonl")).unwrap().set_modified(at).unwrap();
}

/// Returns the event of a call of the main agent.
pub fn call(tool: &str, id: &str) -> Value {
    json!({"tool_name": tool, "tool_use_id": id, "tool_input": {"file_path": "/tmp/x"}, "tool_response": {}})
}

/// Looks once; returns what the person's command was told by that.
pub fn look(world: &TestWorld, time: &GivenTime) -> Vec<Value> {
    let before = told(world).len();
    time.run(&["watch", "--once"]).ok();
    told(world).split_off(before)
}

fn told(world: &TestWorld) -> Vec<Value> {
    let text = world.read("told.jsonl").unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the rules of alerts.
pub fn rules(alerts: &[Value]) -> Vec<&str> {
    alerts.iter().map(|alert| alert["rule"].as_str().unwrap()).collect()
}

#[test]
fn a_part_of_a_limit_is_told_once() {
    let world = world(&json!({"main": {"max_turns": 5, "max_duration_ms": "10m"}}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    for number in 0..4 {
        assert_eq!(rules(&look(&world, &time)), [""; 0], "{number}");
        event(&world, &time, "PreToolUse", &call("Read", &format!("t{number}")));
        event(&world, &time, "PostToolUse", &call("Read", &format!("t{number}")));
    }
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["turns"]);
    let alert = &alerts[0];
    assert_eq!((&alert["version"], &alert["used"], &alert["cap"]), (&json!(1), &json!(4.0), &json!(5.0)), "{alert}");
    assert_eq!(
        (&alert["limit"], &alert["run_id"], &alert["at"]),
        (&json!("max_turns"), &json!("p1"), &json!("2026-11-20T10:00:00.000Z"))
    );
    assert_eq!(alert["text"], "the main agent in project has used 80 % of a limit: tool calls 4/5 (max_turns, user)");
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
    time.pass_ms(8 * 60_000);
    write_transcript(&world, &time);
    assert_eq!(rules(&look(&world, &time)), ["duration"]);
    let log = time.run(&["log"]).ok();
    assert!(log.contains("alert turns (command)") && log.contains("alert duration (command)"), "{log}");
}

/// What an alert says is used is what the report says.
#[test]
fn figures_are_those_of_the_report() {
    let limits = json!({"max_turns": 5, "max_duration_ms": "10m", "max_cost_usd": 1, "max_tokens": 20_000});
    let keys = ["max_turns", "max_duration_ms", "max_cost_usd", "max_tokens"];
    let rule = |key: &&str| ((*key).to_owned(), json!({"limit": key, "percent": 10}));
    let rules: serde_json::Map<String, Value> = keys.iter().map(rule).collect();
    let own = json!({"turns": null, "duration": null, "stalled": null});
    let world = world(&json!({"main": limits, "alerts": {"rules": with(Value::Object(rules), &own)}}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    event(&world, &time, "PreToolUse", &call("Read", "t1"));
    time.pass_ms(90_000);
    let usage = json!({"input_tokens": 10, "output_tokens": 6_000});
    let message = json!({"id": "m1", "model": "claude-opus-5-5", "role": "assistant", "usage": usage});
    let row = json!({"type": "assistant", "timestamp": "2026-11-20T10:01:00.000Z", "message": message});
    world.append("s1.jsonl", format!("{row}\n"));
    event(&world, &time, "PostToolUse", &call("Read", "t1"));
    event(&world, &time, "PostToolBatch", &json!({"tool_calls": [call("Read", "t1")]}));
    let alerts = look(&world, &time);
    let report: Value = serde_json::from_str(&time.run(&["report", "--json", "--since", "all"]).ok()).unwrap();
    let run = &report["sessions"][0]["runs"][0];
    let cost: f64 = run["cost_usd"].as_str().unwrap().parse().unwrap();
    for (key, reported) in
        keys.iter().zip([run["turns"].clone(), run["duration_ms"].clone(), json!(cost), run["tokens"].clone()])
    {
        let alert = alerts.iter().find(|alert| alert["limit"] == **key).unwrap();
        assert_eq!(alert["used"].as_f64(), reported.as_f64(), "{alert} {run}");
        assert!(alert["used"].as_f64() > Some(0.0), "{alert}");
    }
    assert_eq!(alerts.len(), keys.len(), "{alerts:?}");
}

#[test]
fn own_rules_take_the_place_of_those_built_in() {
    let rule = json!({"limit": "max_turns", "percent": 50, "agents": "main"});
    let other = json!({"limit": "max_turns", "percent": 10, "agents": "developer"});
    let alerts = json!({"rules": {"half": rule, "turns": null, "others": other}});
    let world = world(&json!({"main": {"max_turns": 5}, "alerts": alerts}));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    for number in 0..5 {
        event(&world, &time, "PreToolUse", &call("Read", &format!("t{number}")));
        event(&world, &time, "PostToolUse", &call("Read", &format!("t{number}")));
    }
    assert_eq!(rules(&look(&world, &time)), ["half"]);
}

#[test]
fn a_dialog_that_waits_is_told_after_a_minute() {
    let world = world(&json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    event(&world, &time, "PreToolUse", &call("Write", "t1"));
    event(&world, &time, "PermissionRequest", &call("Write", "t1"));
    time.pass_ms(59_000);
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
    time.pass_ms(1_000);
    let alerts = look(&world, &time);
    assert_eq!(alerts[0]["text"], "the main agent in project waits for a person for 60 s: a dialog about Write");
    // Somebody who is away for long is told once, and their agent does not hang.
    time.pass_ms(3_600_000);
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
}

/// Agents that ask for more of what they share wait for one answer: it is told once, with what they ask for.
#[test]
fn questions_of_several_agents_about_one_cap_are_told_once() {
    let world = world(&json!({"session": {"max_turns": 2, "timeout_action": "request_increase"}}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    for agent in ["a1", "a2", "a3"] {
        event(&world, &time, "SubagentStart", &json!({"agent_id": agent, "agent_type": "worker"}));
    }
    for (number, agent) in ["a1", "a2", "a1", "a2", "a3"].iter().enumerate() {
        let who = json!({"agent_id": agent, "agent_type": "worker"});
        event(&world, &time, "PreToolUse", &with(who, &call("Read", &format!("t{number}"))));
    }
    time.pass_ms(60_000);
    let alerts = look(&world, &time);
    let asks: Vec<&str> =
        alerts.iter().filter_map(|alert| alert["text"].as_str()).filter(|it| it.contains("asks")).collect();
    assert_eq!(asks.len(), 1, "{asks:?}");
    assert!(asks[0].ends_with("it asks for more: tool calls of the session 2/2 (max_turns, user)"), "{asks:?}");
}

#[test]
fn stops_are_told_each_and_many_of_them_once_in_the_quiet_time() {
    let rule = json!({"terminations": {"terminations_per_hour": 1}});
    let world = world(&json!({"agents": {"x": {"max_turns": 1, "grace_turns": 0}},
        "alerts": {"rules": rule, "quiet_ms": "30m"}}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    let stop = |time: &mut GivenTime, agent: &str| {
        time.pass_ms(1_000);
        let who = json!({"agent_id": agent, "agent_type": "x"});
        event(&world, time, "SubagentStart", &who);
        for number in 0..2 {
            event(&world, time, "PreToolUse", &with(call("Read", &format!("{agent}{number}")), &who));
        }
    };
    stop(&mut time, "a1");
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["stopped"]);
    let text = alerts[0]["text"].as_str().unwrap();
    // As docs/messages.md shows it.
    let sample = alerts::rows().into_iter().find(|row| row.name == "stopped").unwrap().sample;
    let told =
        text.replace("x (a1) in project", "developer (a1b2c3d4) in shop").replace("1/1 (user)", "25/25 (built-in)");
    assert_eq!(told, sample);
    stop(&mut time, "a2");
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["stopped", "terminations"]);
    assert_eq!(alerts[1]["text"], "limits ended 2 agents within the last hour, and the rule says 1");
    stop(&mut time, "a3");
    assert_eq!(rules(&look(&world, &time)), ["stopped"]);
    time.pass_ms(30 * 60_000);
    assert!(rules(&look(&world, &time)).contains(&"terminations"), "the cause goes on");
}

#[test]
fn a_stop_that_was_lifted_is_not_told() {
    let world = world(&json!({"main": {"max_turns": 1, "timeout_action": "pause"}}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    for number in 0..2 {
        event(&world, &time, "PreToolUse", &call("Read", &format!("t{number}")));
    }
    time.pass_ms(1_000);
    time.run(&["resume", "p1"]).ok();
    event(&world, &time, "SessionEnd", &json!({"reason": "exit"}));
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
}

#[test]
fn what_is_spent_in_an_hour_is_told() {
    let world = world(&json!({"alerts": {"rules": {"spend": {"usd_per_hour": 0.01}}}}));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    let usage = json!({"input_tokens": 10, "output_tokens": 2000, "cache_read_input_tokens": 0});
    let message = json!({"id": "m1", "model": "claude-opus-4-8", "role": "assistant", "usage": usage,
        "stop_reason": "end_turn", "content": [{"type": "text", "text": "a"}]});
    let row = json!({"type": "assistant", "uuid": "u1", "timestamp": "2026-11-20T10:00:00.000Z",
        "sessionId": "s1", "message": message});
    world.append("s1.jsonl", format!("{row}\n"));
    set_written(&world, &time);
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["spend"]);
    assert!(alerts[0]["used"].as_f64().unwrap() > 0.01 && alerts[0].get("session_id").is_none(), "{alerts:?}");
}

#[test]
fn a_repository_names_no_command_and_ends_no_client() {
    let world = TestWorld::with_git();
    let command = format!("touch '{}'", world.path("ran").display());
    let own = json!({"alerts": {"command": command}, "watchdog": {"kill": true}, "main": {"stall_after_ms": 1000}});
    world.write("project/.claude/fusebox.json", own.to_string());
    let client = RunningClient::start(&[]);
    let mut time = GivenTime::at(&world, BEGAN_MS);
    time.set("CLAUDE_PID", client.id().to_string());
    begin(&world, &time);
    time.set("CLAUDE_PID", "");
    time.pass_ms(60_000);
    let watched = time.run(&["watch", "--once"]);
    let said = watched.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("stall_after_ms: the main agent in project gives no sign of life"), "{said}");
    assert!(watched.stderr.contains("`alerts") && watched.stderr.contains("`watchdog"), "{watched}");
    assert_eq!(world.read("ran"), None);
    assert!(client.is_at_work());
    let problems = time.run(&["config", "check"]);
    assert!(problems.stdout.contains("`alerts"), "{problems}");
    assert!(problems.stdout.contains("`watchdog"), "{problems}");
}

#[test]
fn an_agent_cannot_run_it() {
    let world = world(&json!({}));
    for words in [&["watch"][..], &["watch", "--once"], &["watch", "--install"], &["watch", "--uninstall"]] {
        let outcome = world.command(words).env("CLAUDECODE", "1").run();
        assert!(outcome.code == 1 && outcome.stderr.contains("is a person's to run"), "{outcome}");
    }
}

#[test]
fn a_command_that_hangs_or_fails_is_written_down() {
    for (line, why) in
        [("sleep 60", "it took longer than 100 ms and was ended"), ("echo no >&2; exit 3", "exit status: 3 (no)")]
    {
        let alerts = json!({"command": {"command": line, "timeout_ms": 100}});
        let world = world(&json!({"main": {"max_turns": 1, "timeout_action": "warn"}, "alerts": alerts}));
        let time = GivenTime::at(&world, BEGAN_MS);
        begin(&world, &time);
        event(&world, &time, "PreToolUse", &call("Read", "t1"));
        let outcome = time.run(&["watch", "--once"]);
        assert!(outcome.stderr.contains(why), "{outcome}");
        let log = time.run(&["log", "--json"]).ok();
        assert!(log.contains(why), "{log}");
    }
}

#[test]
fn the_desktop_gets_title_and_text_as_arguments() {
    let world = world(&json!({"main": {"max_turns": 1, "timeout_action": "warn"}, "alerts": {"desktop": true}}));
    world.script("bin/notify-send", &format!("printf '%s\\n' \"$@\" > '{}'", world.path("shown").display()));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    event(&world, &time, "PreToolUse", &call("Read", "t1"));
    assert_eq!(rules(&look(&world, &time)), ["turns"]);
    let shown = world.read("shown").unwrap();
    let text = "the main agent in project has used 100 % of a limit: tool calls 1/1 (max_turns, user)";
    assert_eq!(shown, format!("--app-name=Fusebox\n--\nFusebox\n{text}\n"));
}

/// An agent may have written the program that tells of an alert, or the one that it is told by.
#[test]
fn what_an_alert_starts_gives_no_persons_command() {
    let limits = json!({"max_turns": 1, "timeout_action": "warn"});
    for (place, is_desktops) in [("command", false), ("bin/notify-send", true)] {
        let world = world(&json!({"main": limits, "alerts": {"desktop": is_desktops}}));
        let said = world.path("said");
        let grants =
            format!("env -u FUSEBOX_ALERT_TITLE {FUSEBOX} grant s1 max_turns=+5 >'{}' 2>&1 || true", said.display());
        world.script(place, &grants);
        if !is_desktops {
            let alerts = json!({"command": world.path(place), "desktop": false});
            world.write("home/.claude/fusebox.json", json!({"main": limits, "alerts": alerts}).to_string());
        }
        let time = GivenTime::at(&world, BEGAN_MS);
        begin(&world, &time);
        event(&world, &time, "PreToolUse", &call("Read", "t1"));
        time.run(&["watch", "--once"]).ok();
        let said = world.read("said").unwrap();
        assert!(
            said.contains("is a person's to run: process") && said.contains("alert of `fusebox watch`"),
            "{place}: {said}"
        );
    }
}

/// Looks once in a terminal; returns all that reaches it.
fn shown_in_a_terminal(world: &TestWorld) -> String {
    let mut script = Command::new("script");
    script.args(["-qfc", &format!("'{FUSEBOX}' watch --once"), "/dev/null"]).env_clear().envs(world.variables());
    let shown = script.current_dir(world.path("project")).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

/// A name that would end the sequence, or begin one of its own, is no part of it.
#[test]
fn the_terminal_is_told_in_the_way_that_was_chosen() {
    let text = r"evil\u001b]9;\u0007x (a1) in project has used 100 % of a limit: tool calls 1/1 (max_turns, user)";
    for (chosen, sequence) in [
        (json!({}), "\u{7}".to_owned()),
        (json!({"terminal": "bell"}), "\u{7}".to_owned()),
        (json!({"terminal": "osc9"}), format!("\u{1b}]9;{text}\u{7}")),
        (json!({"terminal": "none"}), String::new()),
    ] {
        let limits = json!({"evil*": {"max_turns": 1, "timeout_action": "warn"}});
        let world = world(&json!({"agents": limits, "alerts": chosen}));
        let who = json!({"agent_id": "a1", "agent_type": "evil\u{1b}]9;\u{7}x"});
        let tell = |name: &str, rest: &Value| world.hook(world.event("s1", "p1", name, rest)).ok();
        tell("SessionStart", &json!({"source": "startup"}));
        tell("UserPromptSubmit", &json!({"prompt": "go"}));
        tell("SubagentStart", &who);
        tell("PreToolUse", &with(call("Read", "t1"), &who));
        let shown = shown_in_a_terminal(&world);
        let controls: String = shown.chars().filter(|c| matches!(c, '\u{7}' | '\u{1b}')).collect();
        let expected: String = sequence.chars().filter(|c| matches!(c, '\u{7}' | '\u{1b}')).collect();
        assert!(shown.contains(&sequence) && controls == expected, "{chosen}: {shown:?}");
        assert_eq!(told(&world).len(), 1, "{chosen}");
    }
}

#[test]
fn json_is_a_line_for_each_alert() {
    let world = world(&json!({"main": {"max_turns": 1, "timeout_action": "warn"}}));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    event(&world, &time, "PreToolUse", &call("Read", "t1"));
    let printed = time.run(&["watch", "--once", "--json"]).ok();
    assert_eq!(printed, world.normalized(&world.read("told.jsonl").unwrap()));
}

#[test]
fn of_two_watches_one_is_at_work() {
    let world = world(&json!({"main": {"max_turns": 1, "timeout_action": "warn"}}));
    let time = GivenTime::at(&world, BEGAN_MS);
    begin(&world, &time);
    event(&world, &time, "PreToolUse", &call("Read", "t1"));
    let held = fusebox::platform::locks::for_watching(&world.path("state")).unwrap();
    assert!(held.is_some());
    let second = time.run(&["watch", "--once"]);
    assert!(second.code == 0 && second.stderr.contains("another `fusebox watch` is at work"), "{second}");
    assert_eq!(world.read("told.jsonl"), None);
    drop(held);
    assert_eq!(rules(&look(&world, &time)), ["turns"]);
}
