//! `fusebox explain` and `fusebox log` from outside.

use insta::assert_snapshot;
use serde_json::json;

use crate::state::with_shop;
use crate::world::{TestWorld, with};

#[test]
fn explain_tells_what_happened_and_what_would_have_helped() {
    let world = with_shop();
    let of_trip = world.run(&["explain", "2"]).ok();
    assert_snapshot!(of_trip, @r"
    developer a3fa11ed00  ended by limit
      session 5f0c1d2e, project /srv/shop
      spawned by main b7d1aaaa, depth 1
      Execution limit exceeded: [max_turns]

    Limits
      tool calls  [##########] 25/25 max_turns  project
      cost        [######----] 0.64/1.00 USD max_cost_usd  project

    Timeline
      2026-11-20 10:01:00 began
      2026-11-20 10:01:03 1 request, 3000 tokens, 0.30 USD
      2026-11-20 10:03:00 #1 AGENT_WARNING: max_turns 20/25 (80 %+), warn, project
      2026-11-20 10:03:20 1 request, 3000 tokens, 0.34 USD
      2026-11-20 10:04:00 #2 AGENT_FAILED: max_turns 25/25, terminate, project
      2026-11-20 10:06:00 last event; ended by limit

    Trip #2
      developer (a3fa11ed) used 25 tool calls; the cap of 25 was set by the
        project's .claude/fusebox.json. Its action is terminate: the run was stopped
        and its work is partial.
      A cap of 37 (max_turns: 37) sufficed for the one developer run that came to an
        end; this one was cut before, and may need more.

    Next
      fusebox grant a3fa11ed max_turns=+12
    ");
    assert_eq!(world.run(&["explain", "#2"]).ok(), of_trip);
    assert_eq!(world.run(&["explain", "a3fa"]).ok(), of_trip);
}

#[test]
fn explain_tells_of_a_run_that_was_not_stopped_and_of_a_session() {
    let world = with_shop();
    assert_snapshot!(world.run(&["explain", "a1b2c3d4e5"]), @r"
    developer a1b2c3d4e5  running
      session 5f0c1d2e, project /srv/shop
      spawned by main b7d1aaaa, depth 1
      task 7

    Limits
      tool calls  [######----] 17/25 max_turns  project
      cost        [####------] 0.42/1.00 USD max_cost_usd  project

    Timeline
      2026-11-20 10:01:00 began
      2026-11-20 10:01:01 1 request, 3000 tokens, 0.42 USD
      2026-11-20 10:06:00 last event; running
    [exit 0]
    ");
    assert_snapshot!(world.run(&["explain", "5f0c"]), @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  running  0 tool calls, 0.50 USD
        developer a1b2c3d4  running  17 tool calls, 0.42 USD  depth 1  task 7
          tool calls  [######----] 17/25 max_turns  project
          cost        [####------] 0.42/1.00 USD max_cost_usd  project
        developer a2d0de00  completed  37 tool calls, 0.80 USD  depth 1
        developer a3fa11ed  ended by limit  25 tool calls, 0.64 USD  depth 1
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12

    Timeline
      2026-11-20 10:00:00 began
      2026-11-20 10:01:03 4 requests, 12.0k tokens, 2.02 USD
      2026-11-20 10:03:00 #1 AGENT_WARNING: max_turns 20/25 (80 %+), warn, project
      2026-11-20 10:03:20 1 request, 3000 tokens, 0.34 USD
      2026-11-20 10:04:00 #2 AGENT_FAILED: max_turns 25/25, terminate, project

    Trip #2
      developer (a3fa11ed) used 25 tool calls; the cap of 25 was set by the
        project's .claude/fusebox.json. Its action is terminate: the run was stopped
        and its work is partial.
    [exit 0]
    ");
}

#[test]
fn what_is_not_known_or_not_unique_is_answered_with_candidates() {
    let world = with_shop();
    assert_snapshot!(world.run(&["explain", "a"]), @r"
    [stderr]
    error: `a` is the beginning of more than one id
      hint: name one of these:
        run a1b2c3d4  developer  running  session 5f0c1d2e
        run a2d0de00  developer  completed  session 5f0c1d2e
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
    [exit 1]
    ");
    assert_snapshot!(world.run(&["explain", "99"]), @r"
    [stderr]
    error: no run or session is called `99`, and no record has that number
      hint: name a run, a session or a trip's number; the newest of each:
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
        session 5f0c1d2e  running
        2  max_turns of developer a3fa11ed
    [exit 1]
    ");
}

#[test]
fn the_log_lists_records_as_lines_or_json() {
    let world = with_shop();
    assert_snapshot!(world.run(&["log", "--since", "all"]), @r"
    #1 2026-11-20 10:03:00 AGENT_WARNING developer a3fa11ed
      max_turns 20/25 (80 %+), warn, project
    #2 2026-11-20 10:04:00 AGENT_FAILED developer a3fa11ed
      max_turns 25/25, terminate, project
    [exit 0]
    ");
    assert_snapshot!(world.run(&["log", "--since", "all", "--json"]), @r#"
    {"id":1,"error":"Agent exceeded max_turns limit","taskId":"a3fa11ed00","agentType":"developer","turns":26,"elapsed_ms":0,"accumulated_cost_usd":0.0,"at":"2026-11-20T10:03:00.000Z","event":"AGENT_WARNING","session":"5f0c1d2e-0000","run":"a3fa11ed00","limit":"max_turns","scope":"run","action":"warn","used":20.0,"cap":25.0,"layer":"project","stop_reason":"turn_limit_reached","percent":80}
    {"id":2,"error":"Agent exceeded max_turns limit","taskId":"a3fa11ed00","agentType":"developer","turns":26,"elapsed_ms":0,"accumulated_cost_usd":0.0,"at":"2026-11-20T10:04:00.000Z","event":"AGENT_FAILED","session":"5f0c1d2e-0000","run":"a3fa11ed00","limit":"max_turns","scope":"run","action":"terminate","used":25.0,"cap":25.0,"layer":"project","stop_reason":"turn_limit_reached"}
    [exit 0]
    "#);
    assert_snapshot!(world.run(&["log", "--since", "2026-11-21"]), @r"
    [stderr]
    nothing is recorded of this time; `fusebox log --since all` shows all that is
    [exit 0]
    ");
}

#[test]
fn a_followed_log_shows_what_is_added_and_ends_with_its_reader() {
    let mut world = with_shop();
    world.set("FUSEBOX", crate::world::FUSEBOX);
    world.set("COLUMNS", "200");
    let script = r#""$FUSEBOX" log --since all --follow | {
        read -r first; read -r second; "$FUSEBOX" pause a1 --reason 'while followed' >/dev/null; read -r third
        echo "${third#* * * }"
    }"#;
    assert_snapshot!(world.program("/bin/sh", &["-c", script]).run(), @r#"
    AGENT_PAUSED developer a1b2c3d4 Agent was paused by `fusebox pause`: "while followed"
    [exit 0]
    "#);
}

/// What has no trip of its own was ended by what stands above it.
#[test]
fn an_agent_that_was_stopped_with_its_session_says_why() {
    let world = TestWorld::new();
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    let call =
        with(agent.clone(), &json!({"tool_name": "Read", "tool_use_id": "t1", "tool_input": {"file_path": "x"}}));
    world.hook(world.event("s1", "p1", "SessionStart", &json!({"source": "startup"}))).ok();
    world.hook(world.event("s1", "p1", "UserPromptSubmit", &json!({"prompt": "go"}))).ok();
    world.hook(world.event("s1", "p1", "SubagentStart", &agent)).ok();
    world.run(&["stop", "s1"]).ok();
    world.hook(world.event("s1", "p1", "PreToolUse", &call)).ok();
    let told = world.run(&["explain", "a1"]).ok();
    assert!(told.contains("stopped with its session: a person stopped it"), "{told}");
    let last = world.run(&["explain"]).ok();
    let (words, story) = last.split_once("\n\n").unwrap();
    assert!(words.starts_with("#1 is the last one, given by a person. It was at "), "{last}");
    assert!(story.starts_with("session s1  stopped"), "{last}");
}

/// A cap that a person has raised stops by itself.
#[test]
fn a_trip_at_a_raised_cap_is_no_persons_stop() {
    let world = TestWorld::new();
    let limits = json!({"main": {"max_turns": 1, "grace_turns": 0, "timeout_action": "terminate"}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    world.hook(world.event("s1", "p1", "SessionStart", &json!({"source": "startup"}))).ok();
    world.hook(world.event("s1", "p1", "UserPromptSubmit", &json!({"prompt": "go"}))).ok();
    let call = |id: &str| {
        let call = json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}});
        ["PreToolUse", "PostToolUse"].map(|name| world.hook(world.event("s1", "p1", name, &call)).ok()).concat()
    };
    assert!(!call("t1").contains("deny"));
    world.run(&["grant", "p1", "max_turns=+1"]).ok();
    assert!(!call("t2").contains("deny"));
    assert!(call("t3").contains("deny"));
    let last = world.run(&["explain"]).ok();
    assert!(last.starts_with("Trip #") && last.contains("\n\nmain p1  ended by limit"), "{last}");
}

/// Calls that save the work of a stopped agent pass its cap: `2/1` would look as if the cap had not held.
#[test]
fn calls_that_an_agent_has_made_to_finish_stand_beside_its_cap() {
    let world = TestWorld::new();
    world.write(
        "home/.claude/fusebox.json",
        r#"{"main": {"max_turns": 1, "grace_turns": 1, "timeout_action": "terminate"}}"#,
    );
    let call = |tool: &str, id: &str| json!({"tool_name": tool, "tool_input": {}, "tool_use_id": id});
    let event = |name: &str, more| world.hook(world.event("s1", "p1", name, &more)).ok();
    event("UserPromptSubmit", json!({"prompt": "go"}));
    event("PreToolUse", call("Bash", "t1"));
    event("PostToolBatch", json!({"tool_calls": []}));
    assert!(event("PreToolUse", call("Bash", "t2")).contains("deny"));
    event("PostToolBatch", json!({"tool_calls": []}));
    assert!(!event("PreToolUse", call("Write", "t3")).contains("deny"));
    let told: serde_json::Value = serde_json::from_str(&world.run(&["status", "--json"]).ok()).unwrap();
    let run = &told["sessions"][0]["runs"][0];
    let reading = run["limits"].as_array().unwrap().iter().find(|it| it["limit"] == "max_turns").unwrap();
    let counted = [&run["turns"], &reading["used"], &reading["cap"], &reading["to_finish"]];
    assert_eq!(counted, [&json!(2), &json!(1), &json!(1), &json!(1)], "{run}");
    let told = world.run(&["explain"]).ok();
    assert!(told.contains("] 1/1 + 1 to finish max_turns"), "{told}");
}

#[test]
fn explain_shows_the_limit_of_the_session_that_has_struck() {
    let world = TestWorld::new();
    let limits = json!({"session": {"max_cost_usd": 0.01, "timeout_action": "terminate", "grace_turns": 0}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    let event = |name: &str, more| world.hook(world.event("s1", "p1", name, &more)).ok();
    event("UserPromptSubmit", json!({"prompt": "go"}));
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 2000});
    for id in ["m1", "m2", "m3"] {
        let message = json!({"id": id, "model": "claude-opus-5-5", "usage": usage});
        let row = json!({"type": "assistant", "timestamp": "2026-11-20T10:00:00.000Z", "message": message});
        world.append("s1.jsonl", format!("{row}\n"));
    }
    event("PreToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t1"}));
    let told = world.run(&["explain"]).ok();
    let (_, shown) = told.split_once("\nLimits of the session\n").unwrap_or_else(|| panic!("{told}"));
    assert!(shown.starts_with("  cost  [##########] 0.0175/0.0100 USD max_cost_usd  user\n\nTimeline"), "{told}");
}
