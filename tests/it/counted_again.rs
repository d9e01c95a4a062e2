//! A session that is counted again, since another program has changed its row, is what it was: with what clients below it have
//! done, and from when on its time runs.

use fusebox::domain::spend::meters::Spend;
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::nested::{Processes, call, event, start};
use crate::state::load;
use crate::world::TestWorld;

const SESSIONS: [&str; 3] = ["s1", "s2", "s3"];

fn execute(world: &TestWorld, sql: &str) {
    let database = Connection::open(world.path("state/state.db")).unwrap();
    database.execute_batch("PRAGMA locking_mode=NORMAL; PRAGMA busy_timeout=1000").unwrap();
    database.execute_batch(sql).unwrap();
}

/// The row of a response with a call, and that of the call's result.
fn worked(session: &str, id: &str) -> String {
    worked_by("claude-opus-5-5", session, id)
}

fn worked_by(model: &str, session: &str, id: &str) -> String {
    let time = rfc3339::format(Environment::real().now().wall_ms);
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000});
    let content = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
    let message =
        json!({"role": "assistant", "id": format!("m-{id}"), "model": model, "content": content, "usage": usage});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "done"}]});
    let prompt = format!("p-{session}");
    let response = json!({"type": "assistant", "promptId": prompt, "timestamp": time, "message": message});
    format!("{response}\n{}\n", json!({"type": "user", "promptId": prompt, "timestamp": time, "message": result}))
}

/// Makes a request with a call in a session.
fn work(world: &TestWorld, client: u32, session: &str, number: usize) {
    let (id, file) = (format!("t-{session}-{number}"), format!("{session}.jsonl"));
    let before = world.read(&file).unwrap_or_default();
    assert_eq!(call(world, client, session, &id), "");
    world.write(&file, before + &worked(session, &id));
    let calls =
        json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": id, "tool_response": "done"}]});
    event(world, client, session, "PostToolBatch", &calls);
}

/// What a session is counted for.
fn counted(world: &TestWorld) -> Vec<Value> {
    let of = |id: &str| {
        let session = load(world, id).0;
        let (counters, models) = (session.counters, session.by_model);
        json!({"session": id, "turns": counters.turns, "spent": format!("{:?}", counters.spent),
            "models": format!("{models:?}"), "nested": session.nested_turns, "outer": session.outer, "between": session.between})
    };
    SESSIONS.map(of).to_vec()
}

#[test]
fn a_session_of_a_chain_that_is_counted_again_leaves_every_count_as_it_was() {
    let [lowered, deleted] = [
        "UPDATE session SET turns = 0, requests = 0, cost_pico_usd = 0 WHERE id = ",
        "DELETE FROM session WHERE id = ",
    ];
    for (damage, at) in [lowered, deleted].into_iter().flat_map(|damage| (0..3).map(move |at| (damage, at))) {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"session": {"max_turns": 100}}).to_string());
        let processes = Processes::start();
        for (client, session) in processes.pids.iter().zip(SESSIONS) {
            start(&world, *client, session);
        }
        for (number, (client, session)) in
            (1..3).flat_map(|number| processes.pids.iter().zip(SESSIONS).map(move |of| (number, of)))
        {
            work(&world, *client, session, number);
        }
        let before = counted(&world);
        assert_eq!(before[0]["turns"], 6);
        execute(&world, &format!("{damage} '{}'", SESSIONS[at]));
        event(&world, processes.pids[at], SESSIONS[at], "PostToolBatch", &json!({"tool_calls": []}));
        let after = counted(&world);
        assert_eq!(after[at..], before[at..], "{damage}{}", SESSIONS[at]);
        // What those above were charged stays, and is charged to them again.
        assert!(
            after[..at].iter().zip(&before).all(|(after, before)| after["turns"].as_u64() >= before["turns"].as_u64())
        );
    }
}

#[test]
fn the_time_of_a_session_that_is_counted_again_runs_from_its_beginning() {
    let world = TestWorld::new();
    let policy =
        json!({"session": {"max_wall_ms": 60_000, "timeout_action": "terminate", "grace_turns": 0, "warn_at": []}});
    world.write("home/.claude/fusebox.json", policy.to_string());
    let mut time = GivenTime::at(&world, Environment::real().now().wall_ms - 3_600_000);
    let send = |time: &GivenTime, name: &str, rest: &Value| -> Value {
        let input = world.event("s1", "p-s1", name, rest);
        serde_json::from_str(&time.hook(input)).unwrap_or_default()
    };
    let row = |time: &GivenTime, id: &str| {
        let stamp = rfc3339::format(time.now_ms());
        let before = world.read("s1.jsonl").unwrap_or_default();
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let message = json!({"role": "assistant", "id": id, "model": "claude-opus-5-5", "content": [], "usage": usage});
        world.write(
            "s1.jsonl",
            format!("{before}{}\n", json!({"type": "assistant", "timestamp": stamp, "message": message})),
        );
    };
    let asks = |time: &GivenTime, id: &str| {
        let asked = send(time, "PreToolUse", &json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}));
        asked["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    send(&time, "SessionStart", &json!({"source": "startup"}));
    send(&time, "UserPromptSubmit", &json!({"prompt": "go"}));
    row(&time, "m1");
    assert!(!asks(&time, "t1"));
    time.pass_ms(40_000);
    execute(&world, "UPDATE session SET turns = 0");
    row(&time, "m2");
    assert!(!asks(&time, "t2"), "40 of 60 seconds");
    time.pass_ms(30_000);
    row(&time, "m3");
    assert!(asks(&time, "t3"), "70 of 60 seconds");
}

#[test]
fn a_client_below_a_session_that_is_gone_waits_until_that_is_counted_again() {
    for damage in ["DELETE FROM session WHERE id = 's1'", "UPDATE session SET id = 'x' WHERE id = 's1'"] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"session": {"max_turns": 100}}).to_string());
        let processes = Processes::start();
        for (client, session) in processes.pids.iter().zip(SESSIONS) {
            start(&world, *client, session);
            work(&world, *client, session, 1);
        }
        execute(&world, damage);
        for at in [1, 2] {
            let refused = call(&world, processes.pids[at], SESSIONS[at], "t");
            assert!(refused.contains("another program has changed the rows of session s1"), "{damage}: {refused}");
        }
        event(&world, processes.pids[0], "s1", "PostToolBatch", &json!({"tool_calls": []}));
        work(&world, processes.pids[2], "s3", 2);
        assert_eq!(load(&world, "s1").0.counters.turns, 4, "{damage}");
    }
}

#[test]
fn a_client_is_below_a_session_whatever_facts_about_clients_are_deleted() {
    for damage in [
        "DELETE FROM metadata",
        "UPDATE metadata SET value = '0'",
        "UPDATE metadata SET value = '0 gone'",
        "UPDATE metadata SET value = '7 s0'",
    ] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"session": {"max_turns": 100}}).to_string());
        let processes = Processes::start();
        start(&world, processes.pids[0], "s1");
        execute(&world, damage);
        start(&world, processes.pids[1], "s2");
        let below = load(&world, "s2").0;
        assert_eq!(below.outer.as_deref(), Some("s1"), "{damage}");
        assert_eq!(below.policy, load(&world, "s1").0.policy, "{damage}");
    }
}

#[test]
fn a_client_that_starts_below_a_session_whose_row_is_gone_waits_for_it() {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"session": {"max_turns": 100}}).to_string());
    let processes = Processes::start();
    start(&world, processes.pids[0], "s1");
    execute(&world, "DELETE FROM session");
    start(&world, processes.pids[1], "s2");
    let refused = call(&world, processes.pids[1], "s2", "t1");
    assert!(refused.contains("another program has changed the rows of session s1"), "{refused}");
    event(&world, processes.pids[0], "s1", "PostToolBatch", &json!({"tool_calls": []}));
    assert_eq!(call(&world, processes.pids[1], "s2", "t2"), "");
    assert_eq!(load(&world, "s1").0.counters.turns, 1);
}

#[test]
fn responses_of_an_earlier_session_that_are_changed_are_restored_in_the_sums_of_the_day() {
    for damage in ["UPDATE response SET cost_pico_usd = 0", "DELETE FROM response"] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 100}}).to_string());
        let (first, second) = (Processes::start(), Processes::start());
        let spent =
            || Store::open_for(&world.path("state"), None).unwrap().shared_budgets().unwrap()[0].spent(None).day.cost.0;
        // Of several sessions, each is restored.
        let earlier = Processes::start();
        start(&world, earlier.pids[0], "s0");
        work(&world, earlier.pids[0], "s0", 1);
        start(&world, first.pids[0], "s1");
        work(&world, first.pids[0], "s1", 1);
        let before = spent();
        execute(&world, damage);
        assert_eq!(spent(), before, "{damage}: until the sums are counted anew");
        start(&world, second.pids[0], "s2");
        assert_eq!((before > 0, spent()), (true, before), "{damage}");
    }
}

#[test]
fn what_was_spent_before_a_reset_is_restored_too() {
    for damage in ["UPDATE response SET cost_pico_usd = 0", "DELETE FROM response"] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 100}}).to_string());
        let (first, second) = (Processes::start(), Processes::start());
        let spent =
            || Store::open_for(&world.path("state"), None).unwrap().shared_budgets().unwrap()[0].spent(None).day.cost.0;
        start(&world, first.pids[0], "s1");
        for number in 1..3 {
            work(&world, first.pids[0], "s1", number);
            let before = spent();
            world.run(&["reset", "s1"]).ok();
            // The person is told of it.
            event(&world, first.pids[0], "s1", "UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p-s1"}));
            assert_eq!(spent(), before);
        }
        work(&world, first.pids[0], "s1", 3);
        let before = spent();
        execute(&world, damage);
        start(&world, second.pids[0], "s2");
        assert_eq!((before > 0, spent()), (true, before), "{damage}");
    }
}

/// A shared budget keeps a session's further models without a price under one name, by which its limits over some models count them: as
/// they are charged, and as they are summed again.
#[test]
fn what_sessions_share_names_models_alike_when_a_session_is_counted_again() {
    for (is_shown, misses) in [(true, 0), (false, 0), (true, 4), (false, 4)] {
        let world = TestWorld::new();
        world.write("home/.claude/fusebox.json", json!({"user": {"max_cost_usd_per_day": 100}}).to_string());
        let processes = Processes::start();
        let client = processes.pids[0];
        start(&world, client, "s1");
        let rows = (0..6).map(|at| worked_by(&format!("made-up-{at}"), "s1", &format!("t{at}")));
        world.write("s1.jsonl", rows.collect::<String>());
        event(&world, client, "s1", "PostToolBatch", &json!({"tool_calls": []}));
        for number in 0..misses {
            let (id, tool) = (format!("late-{number}"), "Read");
            assert_eq!(call(&world, client, "s1", &id), "");
            let calls = json!([{"tool_name": tool, "tool_input": {}, "tool_use_id": id, "tool_response": "done"}]);
            event(&world, client, "s1", "PostToolBatch", &json!({"tool_calls": calls}));
        }
        let shared = || {
            let store = Store::open_for(&world.path("state"), None).unwrap();
            let user = store.shared_budgets().unwrap().into_iter().find(|budget| budget.id.is_empty()).unwrap();
            let models = &user.periods[0].spent;
            // Four models have a name of their own: which ones, their order says.
            (models.len(), models.values().copied().sum::<Spend>(), format!("{models:#?}"))
        };
        let before = shared();
        assert_eq!(before.0, 5, "{}", before.2);
        execute(&world, "UPDATE session SET turns = 1000");
        if !is_shown {
            world.write("s1.jsonl", "");
        }
        event(&world, client, "s1", "PostToolBatch", &json!({"tool_calls": []}));
        let after = shared();
        assert_eq!((after.0, after.1), (before.0, before.1), "{is_shown} {misses}: {} {}", before.2, after.2);
    }
}
