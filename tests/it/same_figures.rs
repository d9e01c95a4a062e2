//! One figure has one value wherever it is told, or its words say what else is counted.

use fusebox::wire::events::EVENTS;
use serde_json::{Value, json};

use crate::doctor::{doctor, with_client};
use crate::missing_usage::Story;

/// Returns what stands between two words.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0
}

/// A dialog counts the response that asks for its call, although no transcript has it yet.
#[test]
fn status_tells_the_figures_of_an_open_dialog() {
    for is_late in [false, true] {
        let story = Story::begin(&json!({"session": {"max_cost_usd": 0.028}}));
        for (id, call) in [("m1", "t1"), ("m2", "t2"), ("m3", "t3")] {
            story.write(&[id]);
            story.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": call}));
            story.batch(call);
        }
        if !is_late {
            story.write(&["m4"]);
        }
        let asked = story.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t4"}));
        let figures =
            between(&asked, "cost of the session ", " USD (").trim_start_matches("about ").replace(" of ", "/");
        let status = story.world.run(&["status"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(status.contains(&format!("it says {figures} USD")), "{figures}: {status}");
        let is_explained = status.contains("a response that is in no transcript yet");
        let bar = between(&status, "] ", " USD");
        assert_eq!(bar != figures, is_explained, "{asked}: {status}");
        assert!(is_explained || !is_late, "{status}");
    }
}

/// A replay has the calls that agents asked for, a report those that were let through.
#[test]
fn a_replay_says_how_many_of_its_calls_a_report_leaves_out() {
    let story = Story::begin(&json!({"rate_limits": [{"tool": "WebSearch", "max": 1, "per_ms": 60000}]}));
    let say = |row: Value| story.world.append("s1.jsonl", format!("{row}\n"));
    let row = |kind: &str, fields: Value| json!({"type": kind, "sessionId": "s1", "timestamp": story.now(), "message": fields});
    say(
        json!({"type": "user", "sessionId": "s1", "promptId": "p1", "timestamp": story.now(), "message": {"content": "go"}}),
    );
    let mut refused = 0;
    for (number, tool) in ["Bash", "WebSearch", "WebSearch", "Bash", "WebSearch"].iter().enumerate() {
        let id = format!("t{number}");
        let call = json!({"tool_name": tool, "tool_input": {"n": number}, "tool_use_id": id});
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": {"n": number}}]);
        say(row("assistant", json!({"id": format!("m{number}"), "content": content})));
        let answer = story.event("PreToolUse", &call);
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
        let is_denied = answer["hookSpecificOutput"]["permissionDecision"] == "deny";
        refused += u64::from(is_denied);
        let result = if is_denied { format!("PreToolUse:{tool} hook error: {reason}") } else { "done".to_owned() };
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_denied}]);
        say(row("user", json!({"content": content})));
        let mut ended = call.clone();
        ended["tool_response"] = json!(result);
        story.event("PostToolBatch", &json!({"tool_calls": [ended]}));
    }
    assert_eq!(refused, 2);
    let read = |words: &[&str]| serde_json::from_str::<Value>(&story.world.run(words).ok()).unwrap();
    let transcript = story.world.path("s1.jsonl").display().to_string();
    let replayed = read(&["replay", "--json", &transcript]);
    let (all, left_out) = (&replayed["summary"]["recorded"]["turns"], &replayed["summary"]["recorded"]["refused"]);
    let reported = read(&["report", "--json"]);
    assert_eq!(left_out, &json!(refused), "{replayed}");
    assert_eq!(all.as_u64().unwrap() - refused, reported["sessions"][0]["turns"].as_u64().unwrap());
    let said = story.world.run(&["replay", &transcript]).ok();
    assert_eq!(said.matches("5 tool calls (2 refused)").count(), 1, "{said}");
    assert!(
        said.contains("tool calls 5 (2 refused), ") && said.contains("`fusebox report` has the tool calls"),
        "{said}"
    );
}

/// In some places an event is left out that older clients do not know.
#[test]
fn init_and_doctor_tell_one_number_of_hooks_and_name_what_is_left_out() {
    let newer: Vec<&str> = EVENTS.iter().filter(|row| row.since.is_some()).map(|row| row.name).collect();
    for (version, scope) in [("2.1.214", "local"), ("2.1.332", "local"), ("2.1.332", "user"), ("2.1.332", "project")] {
        let world = with_client(version);
        let said = [world.command(&["init", "--scope", scope]).run().stdout, doctor(&world)];
        let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
        let names = |said: &String| newer.iter().all(|name| said.contains(&format!("without {name}")));
        let whys = ["an older one warns of it", "older clients warn of it"];
        let settings = if scope == "user" { "home/.claude/settings.json" } else { "project/.claude/settings.json" };
        let settings = if scope == "local" { "project/.claude/settings.local.json" } else { settings };
        let is_there = newer.iter().all(|name| world.read(settings).unwrap().contains(name));
        assert_eq!(said.each_ref().map(names), [!is_there; 2], "{version} {scope}: {said:?}");
        let tells_why = [0, 1].map(|at| said[at].contains(whys[at]));
        assert_eq!(tells_why, [!is_there; 2], "{version} {scope}: {said:?}");
    }
}

/// An event's name, and what it brings.
type Happens<'a> = (&'a str, &'a Value);

/// A program reads where something stands in the word that a person reads.
#[test]
fn json_and_texts_have_one_word_for_where_something_stands() {
    let call = |id: &str| json!({"tool_name": "Bash", "tool_input": {"n": id}, "tool_use_id": id});
    let (call, more) = (call("t1"), call("t2"));
    let batch = json!({"tool_calls": [call]});
    let nothing = json!({});
    let stories: [(&str, Value, &[Happens]); 5] = [
        ("running", json!({}), &[("PreToolUse", &call)]),
        ("idle", json!({}), &[("PreToolUse", &call), ("Stop", &nothing)]),
        ("completed", json!({}), &[("Stop", &nothing), ("SessionEnd", &nothing)]),
        (
            "waits for you",
            json!({"main": {"max_turns": 1, "timeout_action": "request_increase"}}),
            &[("PreToolUse", &call), ("PostToolBatch", &batch), ("PreToolUse", &more)],
        ),
        (
            "paused",
            json!({"main": {"max_turns": 1, "timeout_action": "pause"}}),
            &[("PreToolUse", &call), ("PostToolBatch", &batch), ("PreToolUse", &more)],
        ),
    ];
    for (word, policy, events) in stories {
        let story = Story::begin(&policy);
        events.iter().for_each(|(name, rest)| drop(story.event(name, rest)));
        let text = story.world.run(&["status", "--all"]).ok();
        let json: Value = serde_json::from_str(&story.world.run(&["status", "--all", "--json"]).ok()).unwrap();
        let session = &json["sessions"][0];
        let parts = |line: &str| line.trim().split("  ").map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(session["standing"], word, "{text}{session:#}");
        assert_eq!(parts(text.lines().next().unwrap())[1], word, "{text}");
        let run = text.lines().find(|line| line.starts_with("  main p1")).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(session["runs"][0]["standing"], parts(run)[1], "{text}");
    }
}

/// A program reads of the configuration what a person reads.
#[test]
fn a_check_of_the_configuration_tells_programs_the_same() {
    let world = with_client("2.1.332");
    world.write("home/.claude/fusebox.json", r#"{"mode": "observe", "session": {"max_turns": "many"}}"#);
    let [text, json] = [&["config", "check"][..], &["config", "check", "--json"]].map(|words| world.run(words));
    assert_eq!((text.code, json.code), (1, 1), "{text}{json}");
    let read: Value = serde_json::from_str(&json.stdout).unwrap();
    let problems = read["problems"].as_array().unwrap();
    let lines: Vec<String> =
        problems.iter().map(|it| format!("{}: {}", it["severity"], it["says"]).replace('"', "")).collect();
    let told: Vec<String> = text.stdout.lines().take(lines.len()).map(|line| line.replace('"', "")).collect();
    assert_eq!(lines.iter().map(|line| line.replace('\\', "")).collect::<Vec<_>>(), told, "{text}{read:#}");
    assert_eq!((&read["valid"], &read["ignored"], lines.len()), (&json!(false), &json!(1), 2), "{read:#}");
    assert_eq!((&problems[0]["layer"], &problems[0]["key"]), (&json!("user"), &json!("session.max_turns")), "{read:#}");
}
