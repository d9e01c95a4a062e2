//! `fusebox resume` without an id, where nobody is asked: what nobody waits for stays stopped, and stays in the record.

use std::os::unix::fs::symlink;

use fusebox::domain::session::Session;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::session_commands::SHOP;
use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::state::{at, load, save, session, with_shop};
use crate::world::FUSEBOX;

fn runs(fixture: &Fixture) -> Vec<Value> {
    let report = fixture.world.run(&["report", "--since", "all", "--json"]).ok();
    let report: Value = serde_json::from_str(&report).unwrap();
    report["sessions"][0]["runs"].as_array().unwrap().clone()
}

/// A session whose worker a limit has stopped.
fn with_stopped_worker() -> Fixture {
    let mut fixture = Fixture::new();
    let limits = json!({"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"});
    let policy = json!({"agents": {"worker": limits}});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.begin();
    fixture.spawn("");
    assert!((0..9).any(|_| !fixture.step(Actor::Worker)), "nothing stops it");
    fixture.ends_worker();
    fixture
}

#[test]
fn a_script_takes_no_subagent_that_its_parent_has_gone_on_from() {
    let world = with_shop();
    assert_snapshot!(world.run(&["resume", "--yes"]), @r"
    [stderr]
    error: nothing is paused, and the last that a limit has stopped is a subagent (a3fa11ed): the agent above it was told and has gone on
      hint: `fusebox resume a3fa11ed` lets it go on all the same
    [exit 1]
    ");
    assert_eq!(world.run(&["resume"]).stderr, world.run(&["resume", "--yes"]).stderr);
    let stopped = load(&world, SHOP).1.into_iter().find(|run| run.id == "a3fa11ed00").unwrap();
    assert!(stopped.order.is_some() && stopped.limits.named("max_turns").unwrap().cap == 25);
}

#[test]
fn a_script_takes_the_main_agent_of_the_folders_last_session_and_of_no_other() {
    let stopped = || {
        let mut fixture = Fixture::new();
        let limits = json!({"main": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}});
        fixture.world.write("home/.claude/fusebox.json", limits.to_string());
        symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
        fixture.begin();
        assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
        fixture.leaves();
        fixture
    };
    let fixture = stopped();
    let project = load(&fixture.world, "s-0000").0.project;
    let later = load(&fixture.world, "s-0000").0.last.wall_ms + 1000;
    save(&fixture.world, |store| {
        let last = fusebox::domain::moment::Moment { wall_ms: later, ..at(0) };
        let other = Session { project, last, ..session("77aa01bc-0000") };
        store.save_session(&other).unwrap();
    });
    let said = shell(&fixture, "fusebox resume --yes");
    assert!(said.contains("is another session's") && said.ends_with("[exit 1]"), "{said}");
    let fixture = stopped();
    let said = shell(&fixture, "fusebox resume --yes");
    assert!(said.contains("ended by limit -> resumed") && said.ends_with("[exit 0]"), "{said}");
}

/// A prompt that a budget blocks is a trip each time, whichever session sends it, and no run that has begun.
#[test]
fn each_blocked_prompt_leaves_a_trip_and_json_says_what_texts_say() {
    let mut fixture = Fixture::new();
    let policy = json!({"user": {"max_cost_usd_per_day": 0.02, "timeout_action": "terminate"}});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    symlink(FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.begin();
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    fixture.stops();
    for _ in 0..2 {
        assert!(!fixture.prompt());
    }
    fixture.leaves();
    let trips: Vec<usize> = runs(&fixture).iter().map(|run| run["trips"].as_array().unwrap().len()).collect();
    assert_eq!(trips, [1, 1, 1]);
    let told = shell(&fixture, "fusebox explain");
    assert!(told.starts_with("The last is a prompt of session s-0000 that was blocked. It is trip #"), "{told}");
    let report = shell(&fixture, "fusebox report --since all");
    assert!(report.lines().any(|line| line.contains("s-0000") && line.contains("  blocked ")), "{report}");
    let csv = fixture.world.run(&["report", "--since", "all", "--csv"]).ok();
    let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((cells[2], cells[10..].join(",").as_str()), ("failed", "1,3"), "runs and trips");
    let json: Value = serde_json::from_str(&fixture.world.run(&["report", "--since", "all", "--json"]).ok()).unwrap();
    assert_eq!(json["sessions"][0]["status"], "failed");
    assert_eq!(json["sessions"][0]["runs"][0]["partial"], true);
}

#[test]
fn a_stop_that_is_lifted_stays_in_the_record_until_the_agent_has_gone_on() {
    let mut fixture = with_stopped_worker();
    let worker = |fixture: &Fixture| {
        let run = runs(fixture).into_iter().find(|run| run["agent_type"] == "worker").unwrap();
        ["status", "stop_reason", "error"].map(|key| run[key].clone())
    };
    let before = worker(&fixture);
    assert_eq!(before[..2], ["failed", "turn_limit_reached"]);
    let said = shell(&fixture, "fusebox resume a1-0000");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(worker(&fixture), before);
    assert!(fixture.goes_on(Actor::Worker));
    assert_eq!(worker(&fixture), [json!("running"), json!(null), json!(null)]);
    fixture.ends_worker();
    assert_eq!(worker(&fixture), [json!("completed"), json!(null), json!(null)]);
}

/// The heading of sessions that are not done stands above them, and below a budget that is used up.
#[test]
fn the_heading_of_sessions_stands_above_them() {
    let mut fixture = begin(&json!({"user": {"max_cost_usd_per_day": 0.02, "timeout_action": "terminate"}}));
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    (0..4).for_each(|_| fixture.responds(Actor::Main));
    fixture.stops();
    fixture.leaves();
    let said = shell(&fixture, "fusebox status");
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(at("all sessions of this user") < at("No session is at work."), "{said}");
    assert!(at("No session is at work.") < at("session s-0000"), "{said}");
}

/// A prompt that was blocked waits for its limit after its client's end, too: it is not done, and `status` lists it.
#[test]
fn a_session_whose_prompt_was_blocked_is_listed_after_its_clients_end() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.08, "timeout_action": "request_increase"}}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing was asked");
    fixture.stops();
    fixture.leaves();
    fixture.takes_up();
    assert!(!fixture.prompt());
    fixture.leaves();
    let said = shell(&fixture, "fusebox status");
    assert!(said.contains("The newest that are not done:") && said.contains("session s-0000  blocked"), "{said}");
    assert!(said.contains("fusebox grant s-0000 max_cost_usd=+"), "{said}");
    let json: Value = serde_json::from_str(&fixture.world.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!(json["sessions"][0]["standing"], "blocked", "{json}");
}
