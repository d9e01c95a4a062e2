//! State that is deleted while a session runs: its counters are found again in the transcripts.

use std::fs;

use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::state::{load, save};
use crate::world::{TestWorld, with};

const SESSION: &str = "s1";

/// Sends an event of the main agent, or of a subagent.
fn event(world: &TestWorld, name: &str, rest: &Value) -> String {
    let input = world.event(SESSION, "p2", name, rest);
    world.hook(input).ok()
}

/// Adds rows to a transcript.
fn write(world: &TestWorld, place: &str, rows: &[Value]) {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    world.append(place, rows);
}

fn user(prompt: &str, content: &Value) -> Value {
    let time = rfc3339::format(Environment::real().now().wall_ms);
    json!({"type": "user", "promptId": prompt, "timestamp": time, "message": {"role": "user", "content": content}})
}

/// The row of a response with a call, which costs 0.00584 USD, and that of the call's result.
fn worked(prompt: &str, id: &str) -> [Value; 2] {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let time = rfc3339::format(Environment::real().now().wall_ms);
    let content = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
    let message = json!({"role": "assistant", "id": format!("m-{id}"), "model": "claude-opus-5-5", "content": content, "usage": usage});
    [
        json!({"type": "assistant", "timestamp": time, "message": message}),
        user(prompt, &json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}])),
    ]
}

fn call(world: &TestWorld, id: &str, agent: &Value) -> String {
    let call = with(json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}), agent);
    event(world, "PreToolUse", &call)
}

/// A world in which an earlier prompt made one call, and the one at work two.
fn with_work(policy: &Value) -> TestWorld {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", policy.to_string());
    write(&world, "s1.jsonl", &[user("p1", &json!("go"))]);
    write(&world, "s1.jsonl", &worked("p1", "t0"));
    write(&world, "s1.jsonl", &[user("p2", &json!("on"))]);
    for id in ["t1", "t2"] {
        write(&world, "s1.jsonl", &worked("p2", id));
    }
    world
}

#[test]
fn deleting_the_state_gives_no_fresh_counters() {
    let world = with_work(&json!({"main": {"max_turns": 3, "warn_at": [], "grace_turns": 0}}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "on"}));
    fs::remove_dir_all(world.path("state")).unwrap();
    let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t2", "tool_response": {}});
    event(&world, "PostToolUse", &over);
    assert!(call(&world, "t3", &json!({})).contains("its transcript's 3 tool calls (0.0175 USD) were counted anew"));
    assert!(call(&world, "t4", &json!({})).contains("3/3 (max_turns"));
    let (session, runs) = load(&world, SESSION);
    let run = runs.iter().find(|run| run.id == "p2").unwrap();
    assert_eq!((session.counters.turns, session.counters.spent.requests), (4, 3));
    assert_eq!((run.counters.turns, run.counters.spent.requests), (3, 2));
    assert_eq!(run.counters.spent.cost.usd(), 0.01168);
}

#[test]
fn a_state_of_an_early_version_is_set_aside_and_gives_no_fresh_counters() {
    let world = with_work(&json!({"main": {"max_turns": 3, "warn_at": [], "grace_turns": 0}}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "on"}));
    fs::remove_file(world.path("state/state.db")).unwrap();
    fs::remove_file(world.path("state/state.db-wal")).unwrap();
    let early = "CREATE TABLE entry (id INTEGER PRIMARY KEY, name, body); INSERT INTO entry VALUES (1, 's/s1', '{}');
        PRAGMA user_version=1";
    rusqlite::Connection::open(world.path("state/state.db")).unwrap().execute_batch(early).unwrap();
    let refused = world.run(&["status"]);
    assert!(refused.stderr.contains("an early version of fusebox has written the state"), "{}", refused.stderr);
    let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t2", "tool_response": {}});
    assert_eq!(event(&world, "PostToolUse", &over), "");
    let told = call(&world, "t3", &json!({}));
    assert!(
        told.contains("is kept aside as state.db.outdated-") && told.contains("Lost: grants, trust, stops"),
        "{told}"
    );
    assert!(call(&world, "t4", &json!({})).contains("3/3 (max_turns"));
    let files = world.files("state");
    let aside = files.lines().find(|file| file.contains("state.db.outdated-")).unwrap_or_else(|| panic!("{files}"));
    let kept = rusqlite::Connection::open(world.path(aside)).unwrap();
    assert_eq!(kept.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    let log = world.run(&["log"]).ok() + &world.read("state/execution-limits.log").unwrap_or_default();
    assert!(log.contains("in a form that is no longer read; the database was set aside as"), "{log}");
}

#[test]
fn a_person_is_told_where_state_and_transcript_are_gone() {
    for transcript in ["deleted", "emptied", "a folder"] {
        let world = with_work(&json!({"main": {"max_turns": 3}}));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "on"}));
        call(&world, "t3", &json!({}));
        fs::remove_dir_all(world.path("state")).unwrap();
        fs::remove_file(world.path("s1.jsonl")).unwrap();
        match transcript {
            "emptied" => world.write("s1.jsonl", ""),
            "a folder" => fs::create_dir(world.path("s1.jsonl")).unwrap(),
            _ => {}
        }
        let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t3", "tool_response": {}});
        event(&world, "PostToolUse", &over);
        let told = event(&world, "PostToolBatch", &json!({"tool_calls": [over]}));
        assert!(told.contains("neither does the transcript"), "{transcript}: {told}");
        assert!(world.run(&["log", "--json"]).ok().contains("neither does the transcript"));
    }
}

#[test]
fn only_the_first_event_of_a_session_begins_it() {
    let world = with_work(&json!({"main": {"max_turns": 3}}));
    let time = GivenTime::at(&world, Environment::real().now().wall_ms);
    let hook = |name: &str, rest: &Value| time.hook(world.event(SESSION, "p2", name, rest));
    hook("SessionStart", &json!({"source": "startup"}));
    fs::remove_dir_all(world.path("state")).unwrap();
    fs::remove_file(world.path("s1.jsonl")).unwrap();
    let read = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t3"});
    hook("PreToolUse", &read);
    // In the same millisecond.
    let over = with(read, &json!({"tool_response": {}}));
    let told = hook("PostToolUse", &over) + &hook("PostToolBatch", &json!({"tool_calls": [over]}));
    assert!(!told.contains("neither does the transcript"), "{told}");
}

#[test]
fn a_subagent_without_state_keeps_its_counters_too() {
    let world = with_work(&json!({"agents": {"developer": {"max_turns": 2, "warn_at": [], "grace_turns": 0}}}));
    write(&world, "s1/subagents/agent-a1.jsonl", &[user("p2", &json!("work"))]);
    write(&world, "s1/subagents/agent-a1.jsonl", &worked("p2", "a-t1"));
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    assert_eq!(call(&world, "a-t2", &agent), "", "the client shows nothing that is said at a subagent's calls");
    assert!(call(&world, "a-t3", &agent).contains("2/2 (max_turns"));
    let answer = call(&world, "t3", &json!({}));
    assert!(answer.contains("its transcript's 1 tool call (0.0058 USD) were counted anew"), "{answer}");
}

#[test]
fn a_session_counts_the_calls_of_earlier_prompts_too() {
    let world = with_work(
        &json!({"session": {"max_turns": 4, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"}}),
    );
    event(&world, "UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p3"}));
    assert_eq!(load(&world, SESSION).0.counters.turns, 3);
    assert_eq!(call(&world, "t3", &json!({"prompt_id": "p3"})), "");
    assert!(call(&world, "t4", &json!({"prompt_id": "p3"})).contains("of the whole session 4/4 (max_turns"));
}

#[test]
fn calls_whose_hooks_were_killed_are_counted_once_and_told_once() {
    let world = with_work(&json!({"main": {"max_turns": 50}}));
    world.run(&["init", "--scope", "user"]).ok();
    event(&world, "SessionStart", &json!({"source": "startup"}));
    event(&world, "UserPromptSubmit", &json!({"prompt": "on"}));
    call(&world, "t3", &json!({}));
    let over = |id: &str| json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": {}});
    assert_eq!(event(&world, "PostToolUse", &over("t3")), "");
    write(&world, "s1.jsonl", &worked("p2", "t3"));
    // Of this call and the next one nothing is heard, but for the end of the next.
    write(&world, "s1.jsonl", &worked("p2", "t4"));
    assert_eq!(event(&world, "PostToolUse", &over("t5")), "");
    assert_eq!(event(&world, "PostToolUse", &over("t5")), "");
    let told = event(&world, "PostToolBatch", &json!({"tool_calls": [over("t5")]}));
    assert!(told.contains("Fusebox: 4 tool calls of main went by without Fusebox being asked"), "{told}");
    assert_eq!(load(&world, SESSION).0.counters.turns, 5);
    assert!(world.run(&["log", "--json"]).ok().contains("went by without Fusebox being asked"));
}

#[test]
fn what_went_by_until_the_end_of_a_session_is_told_there() {
    for (unheard, is_told) in [(&["t3"][..], false), (&["t3", "t4", "t5"], true)] {
        let world = with_work(&json!({"main": {"max_turns": 50}}));
        event(&world, "SessionStart", &json!({"source": "startup"}));
        event(&world, "UserPromptSubmit", &json!({"prompt": "on"}));
        call(&world, "t3", &json!({}));
        let over = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t3", "tool_response": {}});
        event(&world, "PostToolUse", &over);
        event(&world, "PostToolBatch", &json!({"tool_calls": [over]}));
        // The last response of a session may stand there later than its last event.
        unheard.iter().for_each(|id| write(&world, "s1.jsonl", &worked("p2", id)));
        event(&world, "SessionEnd", &json!({"reason": "exit"}));
        let log = world.run(&["log", "--json"]).ok();
        assert_eq!(log.contains("went by without Fusebox being asked"), is_told, "{unheard:?}: {log}");
    }
}

#[test]
fn a_policy_that_was_taken_out_of_the_state_is_read_again() {
    let world = with_work(&json!({"agents": {"developer": {"max_turns": 1, "warn_at": [], "grace_turns": 0}}}));
    event(&world, "SessionStart", &json!({"source": "startup"}));
    save(&world, |store| {
        let mut session = store.session(SESSION).unwrap().unwrap();
        session.policy = session.policy.map(|id| id + 1);
        store.save_session(&session).unwrap();
    });
    let agent = json!({"agent_id": "a1", "agent_type": "developer"});
    event(&world, "SubagentStart", &agent);
    assert_eq!(call(&world, "a-t1", &agent), "");
    assert!(call(&world, "a-t2", &agent).contains("1/1 (max_turns"));
}

#[test]
fn while_the_state_cannot_be_used_an_agent_ends_with_the_first_batch_that_was_refused() {
    let world = with_work(&json!({}));
    world.write("state", "not a folder");
    let refused = call(&world, "t3", &json!({}));
    assert!(refused.contains("limits cannot be checked"), "{refused}");
    let batch = |result: &str| json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": "t3", "tool_response": result}]});
    assert_eq!(event(&world, "PostToolBatch", &batch("done")), "");
    let ended: Value = serde_json::from_str(&event(&world, "PostToolBatch", &batch(&refused))).unwrap();
    assert_eq!(ended["continue"], false);
    assert!(ended["systemMessage"].to_string().contains("limits cannot be checked"), "{ended}");
}

/// What is heard first of a session whose state was lost, before its agent's next step: none of it shows whose the responses are.
#[test]
fn what_is_heard_before_the_agents_next_step_takes_none_of_its_spend() {
    // The end of an agent that the client has made for itself shows one request of its own.
    for (name, rest, asked) in [
        ("SubagentStop", json!({"agent_id": "helper", "agent_type": "", "stop_hook_active": false}), 1),
        ("Notification", json!({"message": "m", "notification_type": "idle"}), 0),
        ("PermissionRequest", json!({"tool_name": "Read", "tool_input": {}}), 0),
        ("SubagentStart", json!({"agent_id": "a1", "agent_type": "developer"}), 0),
        ("PostToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t2", "tool_response": {}}), 0),
    ] {
        let limits = json!({"max_cost_usd": 0.013, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"});
        let world = with_work(&json!({"main": limits}));
        event(&world, name, &rest);
        let requests = || load(&world, SESSION).0.counters.spent.requests;
        assert_eq!(requests(), 3 + asked, "{name}: all are charged");
        let refused = call(&world, "t3", &json!({}));
        assert!(refused.contains("max_cost_usd"), "{name}: the next request does not fit: {refused}");
        let (session, runs) = load(&world, SESSION);
        let run = runs.iter().find(|run| run.id == "p2").unwrap();
        assert_eq!((run.counters.spent.requests, run.counters.spent.cost.usd()), (2, 0.01168), "{name}");
        assert_eq!((run.counters.turns, session.counters.turns, requests()), (2, 3, 3 + asked), "{name}");
        let explained: Value = serde_json::from_str(&world.run(&["explain", "p2", "--json"]).ok()).unwrap();
        assert_eq!(explained["session"]["runs"][0]["requests"], 2, "{name}: {explained}");
    }
}
