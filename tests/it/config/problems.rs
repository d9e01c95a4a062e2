//! What is said of a configuration agrees with what its author has written, and with what holds.

use fusebox::config::problem::Problem;
use serde_json::{Value, json};

use crate::config::{LOCAL, PROJECT, check_problem, policy};
use crate::world::TestWorld;

fn check(policy: &str) -> String {
    let world = TestWorld::new();
    world.write("project/.claude/fusebox.json", policy);
    world.run(&["config", "check"]).to_string()
}

#[test]
fn a_comment_that_is_none_says_how_comments_begin_and_that_binding_is_ignored() {
    let said = check("{\n  # comment\n  \"binding\": true, \"session\": {\"max_turns\": 3}\n}");
    assert!(said.contains("all of it is ignored, `binding` too; comments are `// ...` or `/* ... */`"), "{said}");
    let said = check("{\n  \"session\" 3\n}");
    assert!(said.contains("all of it is ignored") && !said.contains("comments are"), "{said}");
}

#[test]
fn a_key_that_one_line_has_twice_says_that_the_first_counts() {
    let said = check("{\"session\": {\"max_cost_usd\": 5, \"max_cost_usd\": 100}}");
    assert!(said.contains("line 1 says it twice, and the first counts"), "{said}");
}

#[test]
fn a_key_that_is_there_twice_says_so_where_neither_counts() {
    for (policy, counts) in [
        (
            r#"{"session": {"max_cost_usd": "10 USD", "max_cost_usd": 3}}"#,
            "the first is read, and that is ignored, too",
        ),
        ("{\"session\": {\"max_turns\": -1,\n\"max_turns\": 3}}", "only line 1 is read, and that is ignored, too"),
        (r#"{"sessoin": {"max_turns": 2, "max_turns": 3}}"#, "the first is read, and that is ignored, too"),
        // The first of three is what counts for each of the others, and a key's neighbours do not matter.
        (r#"{"session": {"max_turns": 2, "max_turns": 3, "max_turns": 4, "max_turn": 1}}"#, "the first counts"),
        (r#"{"session": {"max_turns": 2, "max_requests": -1}, "session": {"max_turns": 3}}"#, "the first counts"),
    ] {
        let said = check(policy);
        let twice: Vec<&str> = said.lines().filter(|line| line.contains("says it ")).collect();
        let all = twice.iter().all(|line| line.contains(counts));
        assert!(!twice.is_empty() && all, "{policy}: {said}");
    }
}

#[test]
fn a_block_of_limits_at_the_top_names_the_nearest_key_and_is_else_an_agent_types() {
    for (name, nearest) in [
        ("sesion", "session"),
        ("Session", "session"),
        ("usr", "user"),
        ("users", "user"),
        ("Main", "main"),
        ("projekt", "project"),
        ("agent", "agents"),
        ("ceiling", "ceilings"),
    ] {
        let said = check(&json!({name: {"max_cost_usd": 3}}).to_string());
        assert!(said.contains(&format!("the nearest is `{nearest}`")), "{name}: {said}");
    }
    let said = check(r#"{"agnets": {"developer": {"max_turns": 3}}}"#);
    assert!(said.contains("the nearest is `agents`"), "{said}");
    for name in ["developer", "qa", "planner", "Plan", "Explore", "coder", "tester", "dev", "ops", "security-architect"]
    {
        let said = check(&json!({name: {"max_cost_usd": 3}}).to_string());
        assert!(said.contains(&format!("an agent type stands in `agents`: `agents.{name}`")), "{name}: {said}");
    }
}

#[test]
fn values_are_quoted_as_they_were_written() {
    let said = check("{\"agents\": {\"a.b\": {\"max_duration_ms\": \"2h\"}}, \"session\": {\"max_cost_usd\": 50.00}}");
    assert!(said.contains("`agents.a.b.max_duration_ms: \"2h\"`"), "{said}");
}

#[test]
fn trust_names_nothing_as_counting_that_the_repository_binds() {
    let world = TestWorld::new();
    world.write(
        "project/.claude/fusebox.json",
        "{\"binding\": true, \"session\": {\"max_cost_usd\": 20, \"timeout_action\": \"terminate\"}}",
    );
    let local = "{\"session\": {\"actions\": {\"max_cost_usd\": \"warn\"}, \"max_cost_usd\": 30}}";
    world.write("project/.claude/fusebox.local.json", local);
    let trusted = world.run(&["trust"]).to_string();
    let checked = world.run(&["config", "check"]).to_string();
    for key in ["session.actions.max_cost_usd", "session.max_cost_usd: 30"] {
        let is_ignored = checked.lines().any(|line| line.contains(key) && line.contains("is ignored"));
        assert!(!is_ignored || !trusted.contains(&format!("counts now: `{key}")), "{trusted}\n{checked}");
    }
    assert!(checked.contains("is ignored"), "{checked}");
}

#[test]
fn trust_in_a_file_that_observes_says_that_nothing_blocks() {
    let world = TestWorld::new();
    world.write("project/.claude/fusebox.json", "{\"mode\": \"observe\", \"session\": {\"max_cost_usd\": 50}}");
    let said = world.run(&["trust"]).to_string();
    assert!(said.contains("nothing is blocked") && !said.contains("counts now: `session"), "{said}");
}

#[test]
fn doctor_and_check_count_the_same_errors() {
    let world = TestWorld::new();
    let policy = "{\"mode\": \"observe\", \"sesion\": 1, \"agents\": {\"nobody\": {\"max_turns\": \"x\"}}}";
    world.write("project/.claude/fusebox.json", policy);
    let (checked, doctor) = (world.run(&["config", "check"]).to_string(), world.run(&["doctor"]).to_string());
    let doctor = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(checked.contains("2 errors in the configuration"), "{checked}");
    assert!(doctor.contains("(2 errors in all)"), "{doctor}");
}

/// A client of three calls, as a shell script.
fn three_calls() -> String {
    let call = |id: &str| {
        let event = r#""hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}"#;
        let input = format!(
            r#"{{"session_id":"one","transcript_path":"","cwd":"/","prompt_id":"p1",{event},"tool_use_id":"{id}"}}"#
        );
        format!("echo '{input}' | {} hook >/dev/null", crate::world::FUSEBOX)
    };
    ["t1", "t2", "t3"].map(call).join("\n")
}

#[test]
fn run_says_which_limits_only_warned_and_strict_takes_that_for_right() {
    let warns = r#"{"max_turns": 2, "timeout_action": "warn", "warn_at": []}"#;
    let of_workers = three_calls().replace(r#""cwd""#, r#""agent_id":"a1b2c3d4e5","agent_type":"worker","cwd""#);
    let agents = [("the main agent", three_calls()), ("worker (a1b2c3d4)", of_workers)];
    for (who, calls) in agents {
        for strict in [&["run", "client"][..], &["run", "--strict", "client"]] {
            let world = TestWorld::new();
            world
                .write("home/.claude/fusebox.json", format!(r#"{{"main": {warns}, "agents": {{"worker": {warns}}}}}"#));
            world.script("bin/client", &calls);
            let ran = world.run(strict);
            let line = format!("{who}: max_turns 2/2: this limit only warns, and work went on.");
            assert_eq!((ran.stderr.matches(&line).count(), ran.code), (1, 0), "{ran}");
        }
    }
}

#[test]
fn run_writes_down_for_programs_what_came_of_it() {
    let world = TestWorld::new();
    let limits = r#"{"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate", "warn_at": []}}"#;
    world.write("home/.claude/fusebox.json", limits);
    world.script("bin/client", &three_calls());
    let ran = world.run(&["run", "--summary", "summary.json", "client"]);
    let said: Value = serde_json::from_str(&world.read("project/summary.json").unwrap()).unwrap();
    assert_eq!((ran.code, &said["exit_code"], &said["client_exit_code"]), (3, &json!(3), &json!(0)), "{ran}");
    let stopped = said["stopped"].as_str().unwrap();
    assert!(ran.stderr.contains(stopped) && stopped.contains("max_turns"), "{said}");
    assert_eq!(said["remarks"], json!([stopped, "that limit is `main.max_turns` in ~/.claude/fusebox.json"]));
    let session = &said["sessions"][0];
    assert_eq!((&session["session_id"], &session["turns"]), (&json!("one"), &json!(2)), "{said}");
    world.write("home/.claude/fusebox.json", "{");
    let ran = world.run(&["run", "--strict", "--summary", "summary.json", "client"]);
    let said: Value = serde_json::from_str(&world.read("project/summary.json").unwrap()).unwrap();
    assert_eq!((ran.code, &said["exit_code"], &said["client_exit_code"]), (3, &json!(3), &Value::Null), "{ran}");
}

/// Where the client keeps no transcript its cost is not known: a job that is to be strict has not passed, and its summary says why.
#[test]
fn run_takes_a_client_without_a_transcript_for_a_remark() {
    for (words, code) in [(&["run"][..], 0), (&["run", "--strict"], 3)] {
        let world = TestWorld::new();
        world.script("bin/client", &three_calls());
        let ran = world.run(&[words, &["--summary", "summary.json", "client", "--no-session-persistence"]].concat());
        let said: Value = serde_json::from_str(&world.read("project/summary.json").unwrap()).unwrap();
        let remark = said["remarks"][0].as_str().unwrap();
        assert!(remark.contains("keeps no transcript") && ran.stderr.contains(remark), "{said}\n{ran}");
        assert_eq!((ran.code, &said["exit_code"]), (code, &json!(code)), "{ran}");
    }
}

#[test]
fn run_names_which_observed_limits_would_have_struck() {
    let world = TestWorld::new();
    let limits = r#"{"mode": "observe", "session": {"max_turns": 1, "timeout_action": "terminate", "warn_at": []}}"#;
    world.write("home/.claude/fusebox.json", limits);
    world.script("bin/client", &three_calls());
    let ran = world.run(&["run", "client"]);
    assert!(ran.stderr.contains("nothing was blocked: max_turns 1/1 would have struck"), "{ran}");
}

/// In a watch week a member sees what of the own files will not stand, and the team what of its own file will not.
#[test]
fn a_watch_week_says_what_will_be_ignored_at_its_end() {
    let watched = r#"{"mode": "observe", "binding": true, "session": {"max_cost_usd": 90}, "agents": {"developer": {"max_turns": 40}}}"#;
    let blocks = watched.replace("observe", "enforce");
    let local = r#"{"agents": {"developer": {"max_turns": 90}}}"#;
    let (later, now) =
        (policy(&[(PROJECT, watched), (LOCAL, local)]).1, policy(&[(PROJECT, &*blocks), (LOCAL, local)]).1);
    let named = |problems: &[Problem], words: &str| {
        let named = problems.iter().filter(|it| it.what.contains(words));
        named.map(|it| (it.layer, it.key.clone())).collect::<Vec<_>>()
    };
    let ignored = named(&now, "is ignored");
    assert_eq!(ignored.len(), 2, "{now:?}");
    assert_eq!(named(&later, "will be ignored once the repository's limits block"), ignored, "{later:?}");
    assert!(!later.iter().any(Problem::is_error), "{later:?}");
}

/// A session's person reads a mistake or two, and of more the first, how many there are, which come next, and what shows them.
#[test]
fn many_mistakes_are_counted_and_the_next_are_named() {
    let two = "2 more mistakes are in the configuration: `main.no_key_1` (user), `main.no_key_2` (user). `fusebox config check` shows";
    let many = "29 more mistakes are in the configuration: `main.no_key_1` (user), `main.no_key_2` (user) and others. `fusebox config check` shows";
    for (mistakes, told, more) in [(1, 1, None), (2, 2, None), (3, 1, Some(two)), (30, 1, Some(many))] {
        let world = TestWorld::new();
        let wrong: Vec<String> = (0..mistakes).map(|number| format!("\"no_key_{number}\": 1")).collect();
        world.write("home/.claude/fusebox.json", format!("{{\"main\": {{{}}}}}", wrong.join(", ")));
        let start = world.event("s1", "p1", "SessionStart", &json!({"source": "startup"}));
        let said = world.hook(start).ok();
        assert_eq!(said.matches("is ignored: no such key").count(), told, "{said}");
        assert!(more.is_none_or(|words| said.contains(words)), "{said}");
        assert_eq!(said.contains("more mistakes"), more.is_some(), "{said}");
    }
}

/// Where a repository's looser cap gives way to a person's own, the person reads it once, and no check fails over it.
#[test]
fn a_repository_that_gives_way_is_told_once_and_fails_no_check() {
    let world = TestWorld::new();
    world.run(&["init", "--scope", "user"]).ok();
    world.write("home/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 5}}"#);
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 50, "max_tokens": 900000}}"#);
    let checked = world.run(&["config", "check"]);
    assert_eq!(checked.code, 0, "{checked}");
    assert!(checked.stdout.starts_with("warning: `session.max_cost_usd: 50`"), "{checked}");
    assert!(checked.stdout.contains("the configuration is valid; 1 value ignored"), "{checked}");
    let doctor = world.run(&["doctor"]).stdout;
    assert!(doctor.contains("warn  config ") && !doctor.contains("FAIL  config "), "{doctor}");
    let starts =
        |session: &str| world.hook(world.event(session, "p1", "SessionStart", &json!({"source": "startup"}))).ok();
    let (first, second) = (starts("s1"), starts("s2"));
    let said = "this repository's `session.max_cost_usd` gives way to a stricter value, which stands.";
    assert_eq!(first.matches(said).count(), 1, "{first}");
    assert!(!first.contains("is ignored") && !second.contains("gives way"), "{first}\n{second}");
    // What gives way is not what it was.
    world.write("home/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 5, "max_tokens": 800000}}"#);
    let third = starts("s3");
    assert!(third.contains("`session.max_cost_usd`, `session.max_tokens` give way to stricter values"), "{third}");
    // Nor is it where the repository's file alone has changed.
    let looser = r#"{"session": {"max_cost_usd": 50, "max_tokens": 900000, "max_turns": 5000}}"#;
    world.write(
        "home/.claude/fusebox.json",
        r#"{"session": {"max_cost_usd": 5, "max_tokens": 800000, "max_turns": 500}}"#,
    );
    let _pinned = starts("s4");
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_tokens": 900000}}"#);
    let fewer = starts("s5");
    assert!(!fewer.contains("max_cost_usd"));
    world.write("project/.claude/fusebox.json", looser);
    let (told, again) = (starts("s6"), starts("s7"));
    assert!(told.contains("give way to stricter values") && !again.contains("give way"), "{told}\n{again}");
    // The limits are the same all the time.
    let changed = "the limits here have changed";
    assert!(!fewer.contains(changed) && !told.contains(changed), "{fewer}\n{told}");
}

/// Where a value gives way all the time, a file that says nothing of limits is no edit of them; another value that gives way is one.
#[test]
fn what_gives_way_all_along_is_no_edit() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 5, "max_turns": 500}}"#);
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 50}}"#);
    let event = |prompt: &str, name: &str, rest: &Value| world.hook(world.event("s1", prompt, name, rest)).ok();
    event("p1", "SessionStart", &json!({"source": "startup"}));
    event("p1", "UserPromptSubmit", &json!({"prompt": "go"}));
    let edited = "the configuration was edited";
    world.write("project/.claude/agents/a.md", "---\nname: a\ndescription: x\n---\nhello\n");
    let said = event("p2", "UserPromptSubmit", &json!({"prompt": "go"}));
    assert!(!said.contains(edited), "{said}");
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 50, "max_turns": 5000}}"#);
    let said = event("p3", "UserPromptSubmit", &json!({"prompt": "go"}));
    assert!(said.contains(edited), "{said}");
}

/// What the repository binds, and a member's own file would loosen, is named beside a mistake of another file.
#[test]
fn what_a_repository_binds_is_named_among_other_mistakes() {
    let world = TestWorld::new();
    let bound = r#"{"binding": true, "agents": {"developer": {"max_turns": 10}}, "session": {"max_turnz": 3, "no_a": 1, "no_b": 2}}"#;
    world.write("project/.claude/fusebox.json", bound);
    world.write("project/.claude/fusebox.local.json", r#"{"agents": {"developer": {"max_turns": 50}}}"#);
    let start = world.event("s1", "p1", "SessionStart", &json!({"source": "startup"}));
    let said = world.hook(start).ok();
    assert!(said.contains("`agents.developer.max_turns` (project-local)"), "{said}");
}

/// Where an object of limits stands at the top, the hint says where it belongs.
#[test]
fn agent_types_at_the_top_of_the_file_are_sent_below_agents() {
    for (file, hint) in [
        (r#"{"developer": {"max_turns": 5}}"#, "an agent type stands in `agents`: `agents.developer`"),
        (r#"{"agent_types": {"developer": {"max_turns": 5}}}"#, "agent types stand in `agents`"),
        (r#"{"limits": {"developer": {"max_turns": 5}}}"#, "agent types stand in `agents`"),
        (r#"{"subagents": {"max_turns": 5}}"#, "the nearest is `agents`"),
        (r#"{"developer": {"colour": 5}}"#, "`fusebox config schema` has all keys"),
    ] {
        let value: Value = serde_json::from_str(file).unwrap();
        let (key, value) = value.as_object().unwrap().iter().next().unwrap();
        check_problem(file, &format!("`{key}: {value}` @ is ignored: no such key; {hint}"));
    }
}

/// What is for all repositories has agent types that only others know, and says what a repository says as well.
#[test]
fn a_persons_own_file_is_warned_of_slips_and_differences_alone() {
    let world = TestWorld::new();
    let own = r#"{"session": {"max_cost_usd": 5}, "agents": {"elsewhere": {"max_turns": 5}, "developper": {"max_turns": 5}}}"#;
    world.write("home/.claude/fusebox.json", own);
    world.write("project/.claude/fusebox.json", r#"{"session": {"max_cost_usd": 5}}"#);
    let checked = world.run(&["config", "check"]).stdout;
    assert_eq!(checked.matches("warning").count(), 1, "{checked}");
    assert!(checked.contains("`agents.developper`") && checked.contains("the nearest is `developer`"), "{checked}");
}
