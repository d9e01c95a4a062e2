//! `fusebox suggest`: limits from what past runs needed.

use std::fs;
use std::path::Path;

use fusebox::domain::text::rfc3339;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::world::{TestWorld, with};

mod adaptive;
mod answered_no;
mod past_runs;

/// The recorded session whose copies are the past, its id, and the id of its subagent.
const RECORDED: (&str, &str, &str) =
    ("subagent-foreground-parallel-calls", "091260fd-1807-4f25-a2fc-5acddd61b453", "a49221056dfdeba66");

/// Writes so many copies of a recorded session, each with ids of its own and a subagent of this type.
fn past(copies: usize, agent_type: &str) -> TestWorld {
    let world = TestWorld::new();
    let (name, session, agent) = RECORDED;
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).join("transcripts");
    for copy in 0..copies {
        let renamed = |text: &str| {
            text.replace(session, &format!("{copy:08}{}", &session[8..]))
                .replace(agent, &format!("a{copy:08}{}", &agent[9..]))
                .replace("toolu_", &format!("toolu_{copy}"))
                .replace("msg_", &format!("msg_{copy}"))
                .replace("\"agentType\":\"general-purpose\"", &format!("\"agentType\":{}", Value::from(agent_type)))
        };
        let agents = format!("{session}/subagents/agent-{agent}");
        for file in [format!("{session}.jsonl"), format!("{agents}.jsonl"), format!("{agents}.meta.json")] {
            let text = fs::read_to_string(from.join(&file)).unwrap();
            world.write(&format!("home/.claude/projects/-p/{}", renamed(&file)), renamed(&text));
        }
    }
    world
}

fn json_of(world: &TestWorld, words: &[&str]) -> Value {
    serde_json::from_str(&world.run(words).ok()).unwrap()
}

#[test]
fn what_is_written_trips_in_a_replay_as_often_as_was_said() {
    let world = past(25, "builder");
    world.write(
        "home/.claude/fusebox.json",
        "{\n  // mine\n  \"agents\": {\n    \"builder\": { \"max_turns\": 2 }\n  }\n}\n",
    );
    let said = json_of(&world, &["suggest", "--json"]);
    let printed = world.run(&["suggest", "--write", "--yes"]).ok();
    assert!(printed.contains("it stays"), "{printed}");
    let file = world.path("home/.claude/fusebox.json");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("// mine") && written.contains("\"max_turns\": 2"), "{written}");
    let replay = json_of(&world, &["replay", "--json", "--config", file.to_str().unwrap()]);
    let sessions = replay["sessions"].as_array().unwrap();
    let mut suggested = 0;
    for agent in said["agents"].as_array().unwrap() {
        for limit in agent["limits"].as_array().unwrap().iter().filter(|limit| !limit["suggested"].is_null()) {
            suggested += 1;
            let trips = sessions.iter().map(|session| trips(session, &agent["agent_type"], &limit["limit"]));
            assert_eq!(limit["would_trip"], trips.sum::<usize>(), "{agent}");
        }
    }
    assert_eq!(suggested, 7, "{said}");
    let again = world.run(&["suggest", "--write", "--yes"]).ok();
    assert!(again.contains("nothing would change"), "{again}");
    let loosened = world.run(&["suggest", "--write", "--yes", "--loosen", "builder"]).ok();
    assert!(loosened.contains("-     \"builder\": { \"max_turns\": 2,"), "{loosened}");
}

/// Counts a session's runs of an agent type in which a limit tripped.
fn trips(session: &Value, agent_type: &Value, limit: &Value) -> usize {
    let runs = session["runs"].as_array().unwrap().iter();
    let is_of_type = |run: &&Value| match agent_type.as_str() {
        Some("main") => run["parent_run_id"].is_null(),
        _ => run["agent_type"] == *agent_type,
    };
    let moments = session["timeline"].as_array().unwrap();
    let has_tripped = |run: &&Value| {
        let tripped = |moment: &Value| {
            moment["run_id"] == run["run_id"]
                && moment["limit"] == *limit
                && moment["scope"] == "run"
                && !["early_warning", "parent_told"].contains(&moment["what"].as_str().unwrap())
        };
        moments.iter().any(tripped)
    };
    runs.filter(is_of_type).filter(has_tripped).count()
}

#[test]
fn few_runs_suggest_nothing_and_names_cannot_reach_the_terminal() {
    let world = past(19, "evil\u{1b}[31m\n*");
    let said = world.run(&["suggest"]).ok();
    assert!(said.contains("main: 19 finished runs: 20 are needed"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains("--write"), "{said}");
    let world = past(21, "a*");
    let said = json_of(&world, &["suggest", "--json", "a*"]);
    assert_eq!(said["agents"][0]["limits"][0]["suggested"], Value::Null, "{said}");
}

#[test]
fn an_agent_type_that_nothing_knows_is_told() {
    let world = past(2, "developer");
    for (typed, hint) in [("developr", "the nearest is `developer`"), ("xyzzy", "`fusebox suggest` lists")] {
        let said = world.run(&["suggest", typed]);
        assert!(said.code == 1 && said.stdout.is_empty() && said.stderr.contains(hint), "{said}");
    }
}

#[test]
fn without_past_sessions_it_says_so_and_broken_transcripts_are_passed_over() {
    let world = TestWorld::new();
    assert!(world.run(&["suggest"]).stderr.contains("has kept no sessions here yet"));
    world.write("home/.claude/projects/-p/broken.jsonl", "{\"type\":\"user\"\nno json\n{}\n");
    let said = world.run(&["suggest"]).ok();
    assert!(said.contains("no past run"), "{said}");
}

#[test]
fn nothing_is_written_without_a_yes_or_by_an_agent() {
    let world = past(20, "builder");
    let printed = world.run(&["suggest", "--write"]);
    assert!(printed.stderr.contains("nothing was written"), "{printed}");
    assert!(!world.path("home/.claude/fusebox.json").exists());
    let by_agent = world.command(&["suggest", "--write", "--yes"]).env("CLAUDECODE", "1").run();
    assert_eq!(by_agent.code, 1, "{by_agent}");
    assert!(!world.path("home/.claude/fusebox.json").exists());
}

/// What the file says by a pattern or by another name of the limit is what it sets.
#[test]
fn a_pattern_and_another_name_of_the_limit_are_met() {
    for (file, stays) in [
        (r#"{"agents": {"*": {"max_turns": 1}}}"#, "1 in your file is no more than would be suggested: it stays"),
        (
            r#"{"agents": {"builder": {"max_tool_calls": 500}}}"#,
            "your file says it as `max_tool_calls`: change it there",
        ),
    ] {
        let world = past(20, "builder");
        world.write("home/.claude/fusebox.json", file);
        let said = json_of(&world, &["suggest", "--json", "builder"]);
        let limits = said["agents"][0]["limits"].as_array().unwrap();
        let turns = limits.iter().find(|limit| limit["limit"] == "max_turns").unwrap();
        assert_eq!((&turns["suggested"], &turns["reason"]), (&Value::Null, &stays.into()), "{said}");
    }
}

/// Figures are shown also where the file cannot be edited.
#[test]
fn a_file_that_cannot_be_edited_hides_no_figures() {
    let world = past(20, "builder");
    world.write("home/.claude/fusebox.json", r#"{"main": 3}"#);
    let said = world.run(&["suggest"]);
    assert!(said.code == 0 && said.stdout.contains("builder") && said.stderr.starts_with("note: "), "{said}");
    assert_eq!(world.run(&["suggest", "--write", "--yes"]).code, 1);
}

#[test]
fn init_shows_what_past_runs_used_before_it_writes() {
    let world = past(25, "builder");
    world.write("home/.claude/fusebox.json", r#"{ "agents": { "builder": { "max_turns": 1 } } }"#);
    // No time passes here, so that all of them are read.
    let given = GivenTime::at(&world, 1_795_000_000_000);
    let tried = given.run(&["init", "--dry-run"]).ok();
    let written = given.run(&["init"]).ok();
    let table = |text: &str| text.split("\n\n").next().unwrap().to_owned();
    assert_eq!(table(&tried), table(&written));
    insta::assert_snapshot!(table(&tried), @r"
    what 50, 90 and 99 of 100 past runs used at most, the (limit in force), and how
      many of them these limits would have stopped; from the newest 25 sessions:
    AGENT TYPE  RUNS  TOOL CALLS            TIME              COST, USD  STOPPED
    builder       25   3 3 3 (1)  1s 1s 1s (60m)  0.02 0.02 0.02 (5.00)    100 %
    main          25   1 1 1 (-)    1s 1s 1s (-)     0.01 0.01 0.01 (-)      0 %
    These limits would have stopped 25 of the 50 runs in all (`fusebox replay`).
    Tool calls are without those that were refused, time is without pauses and waits
      for you, and a prompt that was blocked is no run. Of runs without Fusebox's
      hooks a transcript tells neither refusals nor waits: there both count in. `-`:
      too few runs came to their end to tell; (-): no limit in force.
    ");
    // Once it is registered, nothing is new.
    for again in [&["init"][..], &["init", "--dry-run"]] {
        assert!(!given.run(again).ok().contains("past runs"), "{again:?}");
    }
    let without_past = TestWorld::new();
    let said = GivenTime::at(&without_past, 1_795_000_000_000).run(&["init", "--dry-run"]).ok();
    assert!(!said.contains("past runs"), "{said}");
}

/// What few runs used says little of what others need: no table is made of it.
#[test]
fn init_says_of_few_past_runs_no_more_than_that() {
    for sessions in [1, 2] {
        let world = past(sessions, "builder");
        let said = GivenTime::at(&world, 1_795_000_000_000).run(&["init", "--dry-run"]).ok();
        let before: Vec<&str> = said.split("\n\n").next().unwrap().lines().collect();
        assert!(before.len() <= 2 && before.concat().contains("past runs: "), "{sessions}: {said}");
    }
}

/// Has a main agent make three calls, of which a rate refuses the last and a dialog about the first is open for ten minutes; and a
/// second prompt, which a limit blocks.
fn with_a_refusal_a_wait_and_a_blocked_prompt(world: &TestWorld) -> GivenTime<'_> {
    let policy = json!({"rate_limits": [{"tool": "Read", "max": 2, "per_ms": 3_600_000}],
        "session": {"max_requests": 4, "grace_turns": 0, "timeout_action": "terminate"}, "main": {"max_turns": 100}});
    world.write("home/.claude/fusebox.json", policy.to_string());
    let (session, place) = ("5e550000-0000-4000-8000-000000000001", "home/.claude/projects/-p");
    let transcript = format!("{place}/{session}.jsonl");
    let mut time = GivenTime::at(world, BEGAN_MS);
    let event = |time: &GivenTime, prompt: &str, name: &str, rest: &Value| {
        let told = with(world.event(session, prompt, name, rest), &json!({"transcript_path": world.path(&transcript)}));
        time.hook(told)
    };
    let row = |time: &GivenTime, kind: &str, message: Value| {
        let at = rfc3339::format(time.now_ms());
        let row = json!({"type": kind, "promptId": "p1", "uuid": at, "sessionId": session, "timestamp": at, "message": message});
        world.append(&transcript, format!("{row}\n"));
    };
    event(&time, "p1", "SessionStart", &json!({"source": "startup"}));
    row(&time, "user", json!({"role": "user", "content": "go"}));
    event(&time, "p1", "UserPromptSubmit", &json!({"prompt": "go"}));
    for number in 1..=3 {
        time.pass_ms(1_000);
        let id = format!("toolu_{number}");
        let input = json!({"file_path": format!("/tmp/{number}")});
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let content = json!([{"type": "tool_use", "id": id, "name": "Read", "input": input}]);
        row(
            &time,
            "assistant",
            json!({"role": "assistant", "id": format!("m{number}"), "model": "claude-opus-5-5",
            "content": content, "usage": usage}),
        );
        let call =
            json!({"tool_name": "Read", "tool_input": input, "tool_use_id": id, "tool_response": {}, "duration_ms": 0});
        let is_refused = event(&time, "p1", "PreToolUse", &call).contains("\"deny\"");
        assert_eq!(is_refused, number == 3);
        if number == 1 {
            event(&time, "p1", "PermissionRequest", &call);
            time.pass_ms(600_000);
        }
        if !is_refused {
            event(&time, "p1", "PostToolUse", &call);
        }
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": is_refused}]);
        row(&time, "user", json!({"role": "user", "content": result}));
        event(&time, "p1", "PostToolBatch", &json!({"tool_calls": [call]}));
    }
    time.pass_ms(1_000);
    let done = json!([{"type": "text", "text": "done"}]);
    row(
        &time,
        "assistant",
        json!({"role": "assistant", "id": "m4", "model": "claude-opus-5-5", "stop_reason": "end_turn",
        "content": done, "usage": {"input_tokens": 10, "output_tokens": 20}}),
    );
    event(&time, "p1", "Stop", &json!({}));
    let blocked = event(&time, "p2", "UserPromptSubmit", &json!({"prompt": "more"}));
    assert!(blocked.contains("block"), "{blocked}");
    time
}

/// Refused calls, waits for a person and prompts that were not sent are no use of a run, wherever runs are counted.
#[test]
fn past_runs_are_counted_as_the_report_counts_them() {
    let world = TestWorld::new();
    let time = with_a_refusal_a_wait_and_a_blocked_prompt(&world);
    let json = |words: &[&str]| -> Value { serde_json::from_str(&time.run(words).ok()).unwrap() };
    let run = json(&["report", "--json", "--since", "all"])["sessions"][0]["runs"][0].clone();
    assert_eq!((&run["turns"], &run["refused"], &run["duration_ms"]), (&json!(2), &json!(1), &json!(4_000)));
    let of_main = json(&["suggest", "--json"])["agents"][0].clone();
    assert_eq!((&of_main["agent_type"], &of_main["runs"]), (&json!("main"), &json!(1)));
    let used = |limit: &str| {
        let limits = of_main["limits"].as_array().unwrap().iter();
        limits.clone().find(|it| it["limit"] == limit).map(|it| it["p50"].clone())
    };
    assert_eq!((used("max_turns"), used("max_duration_ms")), (Some(json!(2)), Some(json!(4_000))));
    let spent = (Some(run["cost_usd"].clone()), Some(run["tokens"].clone()));
    assert_eq!((used("max_cost_usd"), used("max_tokens")), spent, "{run}");
    let page = time.run(&["report", "--html", "-", "--since", "all"]).ok();
    let data = page.split("<script type=\"application/json\" id=\"data\">").nth(1).unwrap().split("</script>").next();
    let data: Value = serde_json::from_str(data.unwrap()).unwrap();
    let on_page = &data["types"][0];
    assert_eq!((&data["totals"]["runs"], &data["sessions"]["begun"]), (&json!(1), &json!([1])));
    assert_eq!(
        (&on_page["runs"], &on_page["turns"]["most"], &on_page["duration_ms"]["most"]),
        (&json!(1), &json!(2), &json!(4_000))
    );
    // The blocked prompt is a limit that was reached, and no agent; so is the refused call, which has one.
    assert_eq!((&data["trips"]["number"].as_array().unwrap().len(), &data["hours"]["agents"]), (&2, &json!([1])));
    let meaning = "Tool calls are without those that were refused";
    assert!(data["meaning"].as_str().unwrap().starts_with(meaning), "{}", data["meaning"]);
    let said = time.run(&["suggest"]).ok();
    assert!(said.contains(meaning), "{said}");
}
