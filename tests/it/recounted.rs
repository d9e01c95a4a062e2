//! A state that is damaged or deleted between sessions: what those of the month have spent is counted again, once, from their transcripts.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use fusebox::domain::budget::SharedBudget;
use fusebox::domain::scope::Scope;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::world::{TestWorld, with};

/// Sessions that were under Fusebox, of two projects, and one that never was.
const ENDED: [(&str, &str); 3] = [
    ("11111111-0000-4000-8000-000000000001", "project"),
    ("11111111-0000-4000-8000-000000000002", "project"),
    ("11111111-0000-4000-8000-000000000003", "other"),
];
const UNWATCHED: &str = "11111111-0000-4000-8000-000000000009";
/// The sessions that find the state lost.
const NEXT: &str = "22222222-0000-4000-8000-000000000001";
const LAST: &str = "22222222-0000-4000-8000-000000000002";

/// Ways in which a state is lost.
const LOSSES: [&str; 5] = ["deleted", "its database deleted", "garbage", "its first half", "an early version"];

/// How often something is looked for that a process in the background does.
const LOOKS: usize = 20_000;

/// How many responses there were.
static RESPONSES: AtomicU64 = AtomicU64::new(0);

/// Where the client keeps a session's transcript.
fn transcript(session: &str, folder: &str) -> String {
    format!("home/.claude/projects/-{folder}/{session}.jsonl")
}

fn input(world: &TestWorld, (session, folder): (&str, &str), name: &str, rest: &Value) -> Value {
    let place = json!({"transcript_path": world.path(&transcript(session, folder)), "cwd": world.path(folder)});
    with(world.event(session, "p1", name, rest), &place)
}

fn event(world: &TestWorld, of: (&str, &str), name: &str, rest: &Value) -> String {
    let (input, folder) = (input(world, of, name, rest), of.1);
    world.command(&["hook"]).env("CLAUDE_PROJECT_DIR", &world.path(folder).to_string_lossy()).stdin(input).run().ok()
}

/// The row that the client writes of an answer of ours.
fn watched() -> Value {
    let time = rfc3339::format(Environment::real().now().wall_ms - 1);
    let hook = json!({"type": "hook_success", "hookEvent": "SessionStart", "command": "/usr/bin/fusebox hook"});
    json!({"type": "attachment", "timestamp": time, "attachment": hook})
}

/// The row of a response, which costs 0.00584 USD.
fn response(world: &TestWorld, session: &str, folder: &str, id: &str) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let time = rfc3339::format(Environment::real().now().wall_ms);
    let message = json!({"role": "assistant", "id": id, "model": "claude-opus-5-5", "usage": usage,
        "content": [{"type": "tool_use", "id": format!("t-{id}"), "name": "Read", "input": {}}]});
    json!({"type": "assistant", "timestamp": time, "sessionId": session, "cwd": world.path(folder), "message": message})
}

/// Has a session ask its model so many times, each with a call that hooks are told of.
fn works(world: &TestWorld, of: (&str, &str), responses: usize) {
    event(world, of, "UserPromptSubmit", &json!({"prompt": "go"}));
    for _ in 0..responses {
        let id = format!("m-{}", RESPONSES.fetch_add(1, Ordering::Relaxed));
        world.append(&transcript(of.0, of.1), format!("{}\n", response(world, of.0, of.1, &id)));
        let call =
            json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t-{id}"), "tool_response": {}});
        event(world, of, "PreToolUse", &call);
        event(world, of, "PostToolUse", &call);
        event(world, of, "PostToolBatch", &json!({"tool_calls": [call]}));
    }
}

/// Plays a session from its start on.
fn session(world: &TestWorld, of: (&str, &str), responses: usize) {
    world.append(&transcript(of.0, of.1), format!("{}\n", watched()));
    event(world, of, "SessionStart", &json!({"source": "startup"}));
    works(world, of, responses);
}

/// A world in which sessions of two projects have ended, two responses each, and one without Fusebox has had five.
fn with_past() -> TestWorld {
    let world = TestWorld::new();
    let caps = json!({"max_cost_usd_per_day": 1, "max_cost_usd_per_week": 1, "max_cost_usd_per_month": 1});
    world.write("home/.claude/fusebox.json", json!({"user": caps, "project": caps}).to_string());
    fs::create_dir_all(world.path("other")).unwrap();
    for of in ENDED {
        session(&world, of, 2);
        event(&world, of, "SessionEnd", &json!({"reason": "exit"}));
    }
    for at in 0..5 {
        let row = response(&world, UNWATCHED, "project", &format!("u-{at}"));
        world.append(&transcript(UNWATCHED, "project"), format!("{row}\n"));
    }
    world
}

fn lose(world: &TestWorld, how: &str) {
    let (folder, path) = (world.path("state"), world.path("state/state.db"));
    let _closed = Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    let bytes = fs::read(&path).unwrap();
    match how {
        "deleted" => return fs::remove_dir_all(folder).unwrap(),
        "garbage" => fs::write(&path, "no database at all, and longer than its head: ".repeat(99)).unwrap(),
        "its first half" => fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
        _ => fs::remove_file(&path).unwrap(),
    }
    for end in ["-wal", "-shm"] {
        let _not_there = fs::remove_file(world.path(&format!("state/state.db{end}")));
    }
    if how == "an early version" {
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE entry (id); PRAGMA user_version=1").unwrap();
    }
}

/// What is spent in the day, the week and the month by a scope, in responses.
fn spent(world: &TestWorld, scope: Scope, folder: &str) -> [u64; 3] {
    let id = if scope == Scope::User { String::new() } else { world.path(folder).to_string_lossy().into_owned() };
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let budget = store.shared_budget(scope, &id).unwrap().unwrap_or_else(|| SharedBudget::new(scope, &id));
    let of = budget.spent(None);
    [of.day, of.week, of.month].map(|spend| {
        assert_eq!(spend.cost.0, spend.requests * 5_840_000_000, "{scope:?} {folder}");
        spend.requests
    })
}

fn all(world: &TestWorld) -> Vec<[u64; 3]> {
    [(Scope::User, ""), (Scope::Project, "project"), (Scope::Project, "other")]
        .map(|of| spent(world, of.0, of.1))
        .into()
}

/// Waits until something comes that a process in the background does.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    assert!((0..LOOKS).any(|_| is_so()), "{what}");
}

/// Waits until the transcripts are counted.
#[track_caller]
fn until_counted(world: &TestWorld) {
    let done = || Store::open_for(&world.path("state"), None).unwrap().metadata("recounted").unwrap();
    until("counted", || done().is_some_and(|done| done.contains("projects")));
}

/// Waits until the sums of the user and of both projects are as they have to be.
#[track_caller]
fn until_sums(world: &TestWorld, what: &str, sums: [u64; 3]) {
    let wanted: Vec<[u64; 3]> = sums.iter().map(|sum| [*sum; 3]).collect();
    until(&format!("{what}: {wanted:?}, {:?}", world.path("")), || all(world) == wanted);
}

#[test]
fn sums_of_a_lost_state_are_counted_again_once() {
    for how in LOSSES {
        let world = with_past();
        assert_eq!(all(&world), [[6; 3], [4; 3], [2; 3]], "{how}");
        lose(&world, how);
        session(&world, (NEXT, "other"), 1);
        until_counted(&world);
        // A project's sum is there once it has a session with caps.
        session(&world, (LAST, "project"), 0);
        until_sums(&world, how, [7, 4, 3]);
        until(how, || {
            // An event of the session has told it already, or one will.
            let told = world.run(&["log", "--json"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
            told.contains("the state lacked 3 sessions that Fusebox has watched") && told.contains("0.0350 USD")
        });
        // One of them goes on: it is counted by its events now, and nothing twice.
        works(&world, ENDED[2], 1);
        until_sums(&world, how, [8, 4, 4]);
        session(&world, ENDED[0], 1);
        until_sums(&world, how, [9, 5, 4]);
        let report: Value = serde_json::from_str(&world.run(&["report", "--since", "all", "--json"]).ok()).unwrap();
        assert_eq!(report["sessions"].as_array().unwrap().len(), 5, "{how}: {report}");
    }
}

#[test]
fn a_cap_of_the_day_holds_after_the_state_is_lost() {
    for scope in ["user", "project"] {
        let world = with_past();
        let cap = json!({"max_cost_usd_per_day": 0.02, "timeout_action": "terminate", "grace_turns": 0});
        world.write("home/.claude/fusebox.json", json!({scope: cap}).to_string());
        fs::remove_dir_all(world.path("state")).unwrap();
        session(&world, (NEXT, "project"), 0);
        let refused = || event(&world, (NEXT, "project"), "UserPromptSubmit", &json!({"prompt": "go"}));
        until(scope, || refused().contains("max_cost_usd_per_day"));
    }
}

#[test]
fn a_count_that_was_ended_or_led_elsewhere_is_begun_again() {
    let start = ("SessionStart", json!({"source": "resume"}));
    let prompt = ("UserPromptSubmit", json!({"prompt": "go"}));
    for (name, rest) in [start, prompt] {
        for is_led_elsewhere in [false, true] {
            let world = with_past();
            lose(&world, "deleted");
            let first = input(&world, (NEXT, "project"), "SessionStart", &json!({"source": "startup"}));
            if is_led_elsewhere {
                let elsewhere = world.path("elsewhere").to_string_lossy().into_owned();
                world.write("elsewhere/fusebox.json", world.read("home/.claude/fusebox.json").unwrap());
                world.command(&["hook"]).env("CLAUDE_CONFIG_DIR", &elsewhere).stdin(first).run().ok();
            } else {
                // Such a world begins nothing in the background.
                GivenTime::at_present(&world).hook(first);
            }
            assert_eq!(spent(&world, Scope::User, ""), [0; 3], "{name}");
            event(&world, (NEXT, "project"), name, &rest);
            until(name, || spent(&world, Scope::User, "") == [6; 3]);
        }
    }
}

#[test]
fn what_a_session_was_counted_to_stays_where_its_transcript_is_cut() {
    let world = with_past();
    lose(&world, "deleted");
    session(&world, (LAST, "project"), 0);
    session(&world, (NEXT, "other"), 0);
    until_sums(&world, "lost", [6, 4, 2]);
    world.write(&transcript(ENDED[0].0, ENDED[0].1), format!("{}\n", watched()));
    works(&world, ENDED[0], 1);
    until_sums(&world, "cut", [7, 5, 2]);
}

#[test]
fn a_state_that_begins_counts_no_session_that_fusebox_did_not_watch() {
    let world = with_past();
    for (session, folder) in ENDED {
        fs::remove_file(world.path(&transcript(session, folder))).unwrap();
    }
    lose(&world, "deleted");
    session(&world, (NEXT, "project"), 1);
    session(&world, (LAST, "other"), 0);
    until_counted(&world);
    assert_eq!(all(&world), [[1; 3], [1; 3], [0; 3]]);
}
