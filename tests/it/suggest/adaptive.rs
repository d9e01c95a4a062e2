//! `adaptive`: caps follow what finished runs needed, and are never more than what is configured.

use fusebox::config::learned_caps::LearnedCaps;
use fusebox::config::policy::Policy;
use fusebox::config::resolve::Trust;
use fusebox::domain::layer::Layer;
use fusebox::platform::locks;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::given::{BEGAN_MS, GivenTime};
use crate::state::save;
use crate::suggest::past_runs::{named, play_builders, sessions};
use crate::world::{TestWorld, with};

/// A person's file in which a builder has this cap, and caps follow.
fn world(cap: u64, more: &Value) -> TestWorld {
    let world = TestWorld::new();
    let builder = json!({"max_turns": cap, "max_duration_ms": null, "max_cost_usd": null, "timeout_action": "terminate", "grace_turns": 0});
    let policy = with(json!({"adaptive": true, "agents": {"builder": builder}}), more);
    world.write("home/.claude/fusebox.json", policy.to_string());
    world
}

/// Plays so many builders with so many calls each.
fn play(world: &TestWorld, time: &mut GivenTime, prefix: &str, (count, calls): (usize, usize)) {
    play_builders(world, time, &named(&sessions(prefix, count, calls)));
}

fn learn(time: &GivenTime) {
    time.run(&["prune", "--automatic"]).ok();
}

/// Has a builder of a session make so many calls; returns the answer to the last.
fn last_answer(world: &TestWorld, time: &GivenTime, session: &str, calls: usize) -> String {
    let who = json!({"agent_id": "a1", "agent_type": "builder"});
    let event = |name: &str, rest: &Value| time.hook(with(world.event(session, "p1", name, rest), &who));
    event("SubagentStart", &json!({}));
    let mut answer = String::new();
    for number in 0..calls {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": number}, "tool_use_id": format!("t{number}"),
            "tool_response": number});
        answer = event("PreToolUse", &call);
        event("PostToolUse", &call);
    }
    answer
}

fn begin(world: &TestWorld, time: &GivenTime, session: &str) -> String {
    time.hook(world.event(session, "p1", "SessionStart", &json!({"source": "startup"})))
        + &time.hook(world.event(session, "p1", "UserPromptSubmit", &json!({"prompt": "go"})))
}

/// Returns the records of changes of the builder's cap on calls.
fn changes(time: &GivenTime) -> Vec<String> {
    changes_of(time, "max_turns")
}

fn changes_of(time: &GivenTime, limit: &str) -> Vec<String> {
    let log = time.run(&["log", "--since", "all", "--json"]).stdout;
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_limit =
        records.filter(|it| it["event"] == "LIMIT_ADAPTED" && it["limit"] == limit && it["agentType"] == "builder");
    of_limit.map(|it| it["error"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_cap_follows_finished_runs_from_the_next_session_on() {
    let world = world(25, &json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "early", (19, 3));
    learn(&time);
    assert_eq!(changes(&time), [""; 0], "20 finished runs are needed");
    play(&world, &mut time, "twentieth", (1, 3));
    begin(&world, &time, "at-work");
    learn(&time);
    assert_eq!(changes(&time), ["builder max_turns: finished runs suggest 6, before none"]);
    learn(&time);
    assert_eq!(changes(&time).len(), 1, "what stays is no change");
    let told = begin(&world, &time, "next");
    assert!(!told.contains("the limits here have changed"), "what is learned is no edit: {told}");
    assert!(!last_answer(&world, &time, "next", 6).contains("deny"));
    let refused = last_answer(&world, &time, "next", 7);
    assert!(
        refused.contains("deny") && refused.contains("max_turns") && refused.contains("what finished runs needed"),
        "{refused}"
    );
    assert!(!last_answer(&world, &time, "at-work", 24).contains("deny"), "a session at work keeps what it began with");
    let shown: Value =
        serde_json::from_str(&time.run(&["config", "show", "--json", "--agent", "builder"]).ok()).unwrap();
    let values = shown["values"]["agents.builder"].as_array().unwrap();
    let turns = values.iter().find(|value| value["key"] == "max_turns").unwrap();
    assert_eq!((&turns["value"], &turns["layer"]), (&json!(6), &json!("adaptive")), "{turns}");
    assert_eq!(
        (&turns["overridden"][0]["value"], &turns["overridden"][0]["layer"]),
        (&json!(25), &json!("user")),
        "{turns}"
    );
    // Runs that need more raise it again, up to what is configured. One was stopped at 6: it is twice that.
    play(&world, &mut time, "larger", (20, 5));
    learn(&time);
    assert_eq!(changes(&time).last().unwrap(), "builder max_turns: finished runs suggest 12, before 6");
}

#[test]
fn a_cap_is_never_more_than_what_is_configured() {
    for more in [json!({}), json!({"ceilings": {"max_turns": 500}})] {
        let world = world(4, &more);
        let mut time = GivenTime::at(&world, BEGAN_MS);
        play(&world, &mut time, "s", (20, 3));
        learn(&time);
        assert_eq!(changes(&time).len(), 1, "{more}");
        begin(&world, &time, "next");
        assert!(!last_answer(&world, &time, "next", 4).contains("deny"), "{more}");
        let refused = last_answer(&world, &time, "next", 5);
        assert!(refused.contains("deny") && refused.contains("the user's fusebox.json"), "{more}: {refused}");
    }
}

/// Neither a transcript nor a row of the state that an agent has written counts, nor a repository's word.
#[test]
fn what_an_agent_can_write_changes_no_cap() {
    let world = world(25, &json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "s", (20, 3));
    for number in 0..40 {
        world.write(&format!("home/.claude/projects/-p/forged{number}.jsonl"), "{\"type\":\"user\"}\n");
    }
    learn(&time);
    let forged = r#"UPDATE metadata SET value = '{"builder":{"max_turns":400}}' WHERE key = 'learned-caps'"#;
    Connection::open(world.path("state/state.db")).unwrap().execute_batch(forged).unwrap();
    begin(&world, &time, "next");
    assert!(
        !last_answer(&world, &time, "next", 24).contains("deny"),
        "a forged fact is none: what is configured holds"
    );
    assert!(last_answer(&world, &time, "next", 26).contains("deny"), "and no more than that");
    let repository = TestWorld::new();
    repository.write("project/.claude/fusebox.json", r#"{"adaptive": true}"#);
    let said = repository.run(&["config", "check"]);
    assert!(said.code == 1 && said.stdout.contains("adaptive"), "{said}");
}

#[test]
fn without_the_key_nothing_is_learned_and_with_it_a_day_begins_it() {
    let world = world(25, &json!({"retention_days": null}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "s", (20, 3));
    time.begun.borrow_mut().clear();
    time.pass_days(2);
    begin(&world, &time, "next-day");
    let begun: Vec<String> = time.begun.borrow().iter().map(|words| words[1..].join(" ")).collect();
    assert_eq!(begun, ["prune --automatic"], "all detail is kept, and caps are learned");
    world.write("home/.claude/fusebox.json", r#"{"retention_days": null}"#);
    learn(&time);
    assert_eq!(changes(&time), [""; 0]);
}

/// Where nothing was used or counted, twice that is no cap.
#[test]
fn what_runs_used_none_of_is_not_limited() {
    for (calls, limited) in [(0, vec![]), (3, vec!["max_turns"])] {
        let world = world(25, &json!({}));
        world.write("home/.claude/projects/-p/empty.jsonl", "");
        let mut time = GivenTime::at(&world, BEGAN_MS);
        play(&world, &mut time, "s", (20, calls));
        learn(&time);
        let limits = ["max_turns", "max_duration_ms", "max_cost_usd", "max_tokens"];
        let learned: Vec<&str> = limits.into_iter().filter(|limit| !changes_of(&time, limit).is_empty()).collect();
        assert_eq!(learned, limited, "{calls}");
        let said: Value = serde_json::from_str(&time.run(&["suggest", "--json", "builder"]).ok()).unwrap();
        for limit in said["agents"][0]["limits"].as_array().unwrap() {
            let is_limited = limited.iter().any(|name| limit["limit"] == *name);
            assert_eq!(limit["suggested"].is_null(), !is_limited, "{calls}: {limit}");
            assert_eq!(limit["reason"].as_str().unwrap().contains("used none of it"), !is_limited, "{calls}: {limit}");
        }
    }
}

#[test]
fn an_edit_is_told_on_a_day_on_which_caps_change() {
    let world = world(25, &json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "s", (20, 3));
    learn(&time);
    let told = begin(&world, &time, "learned");
    assert!(!told.contains("the limits here have changed"), "{told}");
    let edited = world.read("home/.claude/fusebox.json").unwrap().replace("25", "24");
    world.write("home/.claude/fusebox.json", edited);
    let told = begin(&world, &time, "edited");
    assert!(told.contains("the limits here have changed since the last session"), "{told}");
}

#[test]
fn a_subagent_that_is_called_main_has_its_own_caps() {
    let (mut policy, _) = Policy::of(Vec::new(), Vec::new(), Trust::default());
    let configured = policy.agent("main", None).0;
    for rule in &configured.limits {
        policy.learned.set("main", rule.limit, 1);
        policy.learned.set("another", rule.limit, 1);
    }
    assert_ne!(policy.learned, LearnedCaps::default());
    assert_eq!(policy.agent("main", None).0, configured);
    assert!(policy.agent("another", None).0.limits.iter().any(|rule| rule.layer == Layer::Adaptive));
    assert!(policy.main().limits.iter().any(|rule| rule.layer == Layer::Adaptive));
}

#[test]
fn where_detail_cannot_be_pruned_caps_are_learned_all_the_same() {
    let world = world(25, &json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "s", (20, 3));
    let later = BEGAN_MS + 1000 * 86_400_000;
    save(&world, |store| store.set_metadata("pruning", &json!([later, later]).to_string()).unwrap());
    let report = locks::hold_detail(&world.path("state")).unwrap();
    let said = time.run(&["prune", "--automatic"]);
    assert!(said.code == 1 && said.stderr.contains("a report is being made"), "the first error is said: {said}");
    assert_eq!(changes(&time), ["builder max_turns: finished runs suggest 6, before none"]);
    drop(report);
}

#[test]
fn what_was_learned_before_the_key_was_taken_away_is_forgotten() {
    let world = world(25, &json!({"retention_days": null}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    play(&world, &mut time, "s", (20, 3));
    learn(&time);
    assert_eq!(changes(&time).len(), 1);
    let adaptive = world.read("home/.claude/fusebox.json").unwrap();
    world.write("home/.claude/fusebox.json", adaptive.replace("\"adaptive\":true", "\"adaptive\":false"));
    for (day, begun) in [("first", vec!["prune --automatic"]), ("second", vec![])] {
        time.begun.borrow_mut().clear();
        time.pass_days(2);
        begin(&world, &time, day);
        let found: Vec<String> = time.begun.borrow().iter().map(|words| words[1..].join(" ")).collect();
        assert_eq!(found, begun, "{day}");
        learn(&time);
    }
    world.write("home/.claude/fusebox.json", adaptive);
    begin(&world, &time, "again");
    assert!(!last_answer(&world, &time, "again", 24).contains("deny"), "it is learned anew");
    learn(&time);
    assert_eq!(changes(&time).len(), 2);
}
