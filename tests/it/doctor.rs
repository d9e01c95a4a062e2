//! `doctor` and `run`: what a person is told about an installation, and about a client's work.

mod advice;
mod run;

use fusebox::wire::events::EVENTS;

use serde_json::{Value, json};

use crate::world::{TestWorld, with};

/// Runs `doctor`. The line that depends on how busy the machine is and its advice are left out, and at the end what a system lacks.
pub fn doctor(world: &TestWorld) -> String {
    let outcome = world.run(&["doctor"]).to_string();
    let (outcome, exit) = outcome.rsplit_once("\n[exit").unwrap();
    let outcome = format!("{}\n[exit{exit}", outcome.split("\nwarn  system ").next().unwrap());
    let measured = |line: &&str| line.contains("  latency   a hook takes ") || line.contains("machine busy?");
    let told: Vec<&str> = outcome.lines().filter(|line| !measured(line)).collect();
    told.join("\n")
}

pub fn with_client(version: &str) -> TestWorld {
    let world = TestWorld::new();
    world.script("bin/claude", &format!("echo '{version} (Claude Code)'"));
    world
}

/// A client that does not know an event warns of it at each start.
#[test]
fn an_event_is_registered_where_the_client_knows_it() {
    for (version, scope, file, is_there) in [
        ("2.1.214", "local", "project/.claude/settings.local.json", false),
        ("2.1.287", "local", "project/.claude/settings.local.json", true),
        ("2.1.332", "project", "project/.claude/settings.json", false),
    ] {
        let world = with_client(version);
        let _said = world.run(&["init", "--scope", scope]).ok();
        assert_eq!(world.read(file).unwrap().contains("PostModelSwitch"), is_there, "{version} {scope}");
        let said = doctor(&world);
        assert!(said.contains("registered at [ALL] events"), "{version} {scope}: {said}");
    }
}

#[test]
fn a_sound_installation() {
    let world = with_client("2.1.332");
    let _said = world.run(&["init"]).ok();
    insta::assert_snapshot!(doctor(&world), @r"
    ok    settings  every settings file can be read
    ok    hooks     registered at [ALL] events in .claude/settings.local.json
    ok    switches  no setting switches hooks off
    ok    binary    fusebox 0.1.0
    ok    blocking  the call past the cap of a trial session was refused
    ok    failing   where the program is missing, crashes or is late, calls and
                    prompts go through (open); where its state is broken, calls and
                    prompts are refused (closed); after a bug of its own, calls and
                    prompts go through (open, `on_error`)
    ok    config    every key is understood
    ok    mode      limits block
    ok    state     [ROOT]/state/state.db is sound
    ok    history   0.1 MB; detail is kept for 90 days; not pruned yet
    ok    disk      local, with locks and a write-ahead log
    ok    prices    24 prices, as client 2.1.328, 2026-11-20 has them
    ok    client    2.1.332 (Claude Code)
    ok    clients   one that asks no hook is told of while it runs
    [exit 0]
    ");
    assert!(world.run(&["doctor"]).stdout.lines().all(|line| line.chars().count() <= 80));
    assert_eq!(world.files("state").lines().find(|file| file.contains("trial")), None, "the trial leaves nothing");
}

#[test]
fn nothing_installed() {
    insta::assert_snapshot!(doctor(&with_client("2.1.199")), @r"
    ok    settings  every settings file can be read
    FAIL  hooks     not registered here
                    -> run `fusebox init`
                    for the same reason: blocking, failing, latency
    ok    switches  no setting switches hooks off
    ok    binary    fusebox 0.1.0
    ok    config    every key is understood
    ok    mode      limits block
    ok    state     [ROOT]/state/state.db is sound
    ok    history   0.1 MB; detail is kept for 90 days; not pruned yet
    ok    disk      local, with locks and a write-ahead log
    ok    prices    24 prices, as client 2.1.328, 2026-11-20 has them
    warn  client    `2.1.199 (Claude Code)` is older than 2.1.214, the oldest tried
                    -> update the client: 2.1.332 has all that Fusebox uses
    ok    clients   one that asks no hook is told of while it runs
    [exit 1]
    ");
}

#[test]
fn a_value_that_the_client_does_not_take_is_warned_of() {
    let mut world = with_client("2.1.332");
    world.set("COLUMNS", "200");
    let _said = world.run(&["init"]).ok();
    let settings = world.read("project/.claude/settings.local.json").unwrap();
    world.write("project/.claude/settings.local.json", settings.replacen('{', "{ \"cleanupPeriodDays\": 0,", 1));
    let said = doctor(&world);
    assert!(said.contains("the client does not take `cleanupPeriodDays: 0`"), "{said}");
}

#[test]
fn everything_wrong() {
    let mut world = with_client("2.1.332");
    world.set("COLUMNS", "200");
    let _said = world.run(&["init"]).ok();
    let settings = world.read("project/.claude/settings.local.json").unwrap();
    let binary = crate::world::FUSEBOX;
    let settings = settings.replace("\"PreToolUse\"", "\"Other\"").replace(binary, "/gone/fusebox");
    world.write("project/.claude/settings.local.json", settings);
    world.write("project/.claude/settings.json", "{ \"env\": { \"FUSEBOX_HOME\": \"/tmp/x\" } }");
    world.write("home/.claude/settings.json", "{ no JSON\n}");
    world.write("home/.claude/fusebox.json", "{ \"max_turn\": 3 }");
    insta::assert_snapshot!(doctor(&world), @r"
    warn  settings  ~/.claude/settings.json is no JSON: key must be a string at line 1 column 3
                    -> correct them; until then the client ignores all that is in them
    FAIL  hooks     not registered at PreToolUse in .claude/settings.local.json
                    -> run `fusebox init` again
    warn  switches  .claude/settings.json has `FUSEBOX_HOME` in `env`, which leads hooks to another state
                    -> take it out, unless it is meant
    FAIL  binary    /gone/fusebox does not run: No such file or directory (os error 2)
                    -> run `fusebox init` again
                    for the same reason: blocking, latency
    ok    failing   where the program is missing, crashes or is late, calls and prompts go through (open); where its state is broken, calls and prompts are refused (closed); after a bug of its own, calls
                    and prompts go through (open, `on_error`)
    FAIL  config    `[ROOT]/home/.claude/settings.json` (user) is no JSON: key must be a string at line 1 column 3; all of it is ignored (2 errors in all)
                    -> `fusebox config check` shows all of them
    ok    mode      limits block
    ok    state     [ROOT]/state/state.db is sound
    ok    history   0.1 MB; detail is kept for 90 days; not pruned yet
    ok    disk      local, with locks and a write-ahead log
    ok    prices    24 prices, as client 2.1.328, 2026-11-20 has them
    ok    client    2.1.332 (Claude Code)
    ok    clients   one that asks no hook is told of while it runs
    [exit 1]
    ");
    world.write("project/.claude/settings.json", "{ \"disableAllHooks\": true }");
    let line = world.run(&["doctor"]).stdout.lines().find(|line| line.contains("switches")).unwrap().to_owned();
    insta::assert_snapshot!(line, @"FAIL  switches  .claude/settings.json switches hooks off (disableAllHooks or allowManagedHooksOnly)");
}

/// Runs `doctor --json`; returns one of its checks.
fn check(world: &TestWorld, name: &str) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&world.run(&["doctor", "--json"]).stdout).unwrap();
    report["checks"].as_array().unwrap().iter().find(|check| check["check"] == name).unwrap().clone()
}

#[test]
fn each_handler_fails_one_way_or_the_other() {
    let world = with_client("2.1.332");
    world.write("home/.claude/fusebox.json", r#"{ "on_error": "deny" }"#);
    let _said = world.run(&["init", "--fail-closed"]).ok();
    let failing = check(&world, "failing");
    assert_eq!(failing["health"], "ok");
    let of = |event: &str| {
        let handlers = failing["handlers"].as_array().unwrap();
        let fate = handlers.iter().find(|handler| handler["event"] == event).unwrap();
        ["missing", "crash", "timeout", "state"].map(|fault| fate[fault].as_str().unwrap().to_owned())
    };
    assert_eq!(failing["handlers"].as_array().unwrap().len(), EVENTS.len());
    assert_eq!(of("PreToolUse"), ["closed"; 4]);
    assert_eq!(of("PostToolBatch"), ["closed", "closed", "closed", "open"]);
    assert_eq!(of("Stop"), ["open"; 4]);
    insta::assert_snapshot!(failing["words"].as_str().unwrap(), @"where the program is missing, crashes or is late, calls and prompts are refused (closed); where its state is broken, calls and prompts are refused (closed); after a bug of its own, calls and prompts are refused (closed, `on_error`)");
}

#[test]
fn an_older_client_is_told_of_with_what_it_costs() {
    let world = with_client("2.1.240");
    let said = world.run(&["init", "--fail-closed"]).ok();
    assert!(said.contains("the client here is 2.1.240, where --fail-closed has no effect yet"), "{said}");
    let (client, failing) = (check(&world, "client"), check(&world, "failing"));
    assert_eq!((&client["health"], &failing["health"]), (&"warn".into(), &"warn".into()));
    assert!(failing["handlers"].as_array().unwrap().iter().all(|handler| handler["crash"] == "open"));
    insta::assert_snapshot!(client["words"].as_str().unwrap(), @"2.1.240 (Claude Code): `init --fail-closed` has no effect: calls run where Fusebox is missing, crashes or is late; hooks of a managed install do not run in a client that an agent starts with `--bare`; limits on cost and tokens of subagents count less output than there was; an agent that breaks the state, and has an own hook refuse its calls so, goes on making requests; no call runs; a client whose agent makes the folder it works in a file asks no hook: only `fusebox watch` tells of it, and can end it; what `/insights` asks in clients that an agent starts is not counted");
    assert_eq!(check(&with_client("2.1.999"), "client")["health"], "ok");
}

/// Nobody waits for ever, for a client or for a registered binary.
#[test]
fn a_client_that_hangs_is_given_up() {
    let world = TestWorld::new();
    world.script("bin/claude", "exec sleep 600");
    let client = check(&world, "client");
    assert_eq!(client["words"], "`claude --version` does not run: no answer within 10 s");
}

#[test]
fn a_binary_that_never_blocks_is_found_out() {
    let world = with_client("2.1.332");
    world.script("bin/fusebox", "[ \"$1\" = --version ] && echo fusebox 0.0.1; exit 0");
    let _said = world.run(&["init", "--scope", "project"]).ok();
    let said = doctor(&world);
    let lines: Vec<&str> = said.lines().skip_while(|line| !line.contains("binary")).take(5).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    warn  binary    fusebox is `fusebox 0.0.1`, this is `fusebox 0.1.0`
                    -> run `fusebox init` with the one you want
    FAIL  blocking  command -v fusebox >/dev/null 2>&1 || exit 0; exec fusebox hook
                    let a call past the cap of a trial session
                    -> run `fusebox init`, which registers again: limits do not
    ");
}

/// A client that plays events one after another.
fn client(world: &TestWorld, events: &[Value]) {
    let line = |event: &Value| {
        let input = with(json!({"session_id": "one", "transcript_path": "", "cwd": "/", "prompt_id": "p1"}), event);
        format!("echo '{input}' | {} hook >/dev/null", crate::world::FUSEBOX)
    };
    world.script("bin/client", &events.iter().map(line).collect::<Vec<_>>().join("\n"));
}

fn call(id: &str, agent: Option<&str>) -> Value {
    let mut call = json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
    if let Some(agent) = agent {
        call["agent_id"] = json!(agent);
        call["agent_type"] = json!("worker");
    }
    call
}

#[test]
fn run_says_what_did_not_end_the_client_and_strict_makes_it_three() {
    let went_by = json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {}, "tool_use_id": "w9",
        "tool_response": {}});
    let worker = json!({"agents": {"worker": {"max_turns": 1, "grace_turns": 0}}});
    let mistake = json!({"session": {"max_turns": "many"}});
    let calls = [call("w1", Some("a1")), call("w2", Some("a1"))];
    let cases = [
        (json!({}), vec![call("t1", None)], None),
        (mistake, vec![call("t1", None)], Some("`session.max_turns: \"many\"`")),
        (worker, calls.to_vec(), Some("a subagent was stopped: worker: tool calls 1/1 (max_turns, user)")),
        (json!({}), vec![call("t1", None), went_by], Some("without Fusebox being asked")),
        (json!({"mode": "observe"}), vec![call("t1", None)], Some("limits were only observed: nothing was blocked")),
    ];
    for (policy, events, says) in cases {
        let runs = |words: &[&str]| {
            let world = TestWorld::new();
            world.write("home/.claude/fusebox.json", policy.to_string());
            world.run(&["init", "--scope", "user"]).ok();
            let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
            let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
            client(&world, &[vec![start, prompt], events.clone()].concat());
            world.run(words)
        };
        let (plain, strict) = (runs(&["run", "client"]), runs(&["run", "--strict", "client"]));
        assert_eq!((plain.code, strict.code), (0, if says.is_some() { 3 } else { 0 }), "{says:?}: {plain} {strict}");
        assert!(says.is_none_or(|says| plain.stderr.contains(says)), "{says:?}: {plain}");
    }
}

#[test]
fn a_damaged_state_that_was_set_aside_is_told() {
    for (words, code) in [(vec!["run", "client"], 0), (vec!["run", "--strict", "client"], 3)] {
        let world = TestWorld::new();
        world.run(&["init", "--scope", "user"]).ok();
        world.write("state/state.db", "no database at all, but long enough to be taken for one".repeat(100));
        let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
        client(&world, &[start, prompt, call("t1", None)]);
        let said = world.run(&words);
        assert_eq!((said.code, said.stderr.contains("state.db.corrupt-")), (code, true), "{said}");
    }
}

#[test]
fn limits_that_are_off_or_of_a_file_that_observes_are_not_as_the_limits_have_it() {
    let observed = "some limits were only observed";
    let refused = "the repository's limits are refused";
    for (is_off, says) in [(true, "limits were switched off"), (false, observed), (false, refused)] {
        for (words, code) in [(vec!["run", "client"], 0), (vec!["run", "--strict", "client"], 3)] {
            let world = TestWorld::new();
            let folder = world.path("project");
            let start = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": folder});
            let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go", "cwd": folder});
            client(&world, &[start, prompt, call("t1", None)]);
            if is_off {
                world.run(&["off", "--for", "1h"]).ok();
            } else {
                world.write("project/.claude/fusebox.json", r#"{"mode": "observe", "session": {"max_turns": 3}}"#);
            }
            if says == refused {
                let own = json!({"refuse_repositories": [folder]});
                world.write("home/.claude/fusebox.json", own.to_string());
            }
            let ran = world.run(&words);
            assert_eq!(ran.code, code, "{says}: {ran}");
            assert!(ran.stderr.contains(says), "{ran}");
        }
    }
}

/// A full disk is found whether nothing fits on it or a little, and the trial of that leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_room_for_the_state_is_found() {
    const ON_SMALL_DISK: &str = r#"
        disk=$FUSEBOX_HOME; cp -a "$disk" "$disk.kept"; mount -t tmpfs -o size=8m tmpfs "$disk"; cp -a "$disk.kept/." "$disk"
        head -c 9m /dev/zero > "$disk/filler" 2>/dev/null; truncate -s -"$FREE" "$disk/filler"; "$@"; ls "$disk""#;
    let world = with_client("2.1.332");
    world.run(&["init"]).ok();
    let apart = ["-rm", "--", "sh", "-c", ON_SMALL_DISK, "sh", crate::world::FUSEBOX, "doctor"];
    if !std::process::Command::new("unshare").args(["-rm", "true"]).output().unwrap().status.success() {
        fusebox::platform::environment::Environment::real().eprintln_safe("not tried: the system allows no mounts");
        return;
    }
    for (free, found) in [("0", true), ("600K", true), ("4M", false)] {
        let said = world.program("unshare", &apart).env("FREE", free).env("COLUMNS", "300").run().stdout;
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_found = words.contains("has no room for 1 MB") && words.contains("refuses calls and prompts");
        assert_eq!((is_found, said.contains("ok    disk")), (found, !found), "{free}: {said}");
        assert!(said.contains("filler") && !said.contains("trial-room"), "{free}: {said}");
    }
}

#[test]
fn run_says_that_work_is_paused_and_how_it_goes_on() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", r#"{"main": {"max_turns": 1, "timeout_action": "pause"}}"#);
    client(&world, &[call("t1", None), call("t2", None)]);
    let paused = world.run(&["run", "client"]);
    assert_eq!(paused.code, 3);
    assert!(
        paused.stderr.contains("paused: tool calls 1/1") && paused.stderr.contains("fusebox resume p1"),
        "{paused}"
    );
    assert!(paused.stderr.contains("`fusebox run -- claude -p --resume one 'go on'`"), "{paused}");
    let resumed = world.run(&["resume", "p1"]);
    assert!(resumed.to_string().contains("resumed"), "{resumed}");
}
