//! `fusebox off`: a person's, seen everywhere, and what was spent counts.

use fusebox::domain::action::Action;
use fusebox::domain::event::{Agent, Call, Event, EventKind, Fingerprints, Intent};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::layer::{LAYERS, Layer};
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::limits_off::LimitsOff;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Order, Session};
use fusebox::domain::spend::amount::PICO;
use fusebox::domain::verdict::{Decision, Finding};
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::session_state::SessionState;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::{SHOP, log};
use crate::state::{SameForAll, at, load, main_run, rules, save, session, with_shop};

/// A session that one of these limits has stopped.
pub fn stopped(policy: &Value) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    fixture.begin();
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "{policy}");
    fixture
}

/// Limits of a run, of the session, of the user and of what repeats.
pub fn policies() -> [Value; 5] {
    let end = |caps: Value| {
        let mut caps = caps;
        caps["grace_turns"] = json!(0);
        caps["timeout_action"] = json!("terminate");
        caps
    };
    [
        json!({"main": end(json!({"max_turns": 2}))}),
        json!({"main": end(json!({"max_cost_usd": 0.03}))}),
        json!({"session": end(json!({"max_cost_usd": 0.03}))}),
        json!({"session": {"max_requests": 3, "timeout_action": "pause"}}),
        json!({"user": {"max_cost_usd_per_day": 0.02, "timeout_action": "terminate"}}),
    ]
}

#[test]
fn what_is_off_stops_nothing_and_what_is_spent_counts() {
    for policy in policies() {
        let mut fixture = stopped(&policy);
        let said = fixture.world.run(&["off", "--for", "1h"]).ok();
        assert!(said.contains("are off until") && said.contains("all that is spent counts"), "{said}");
        let before = load(&fixture.world, "s-0000").0.counters.spent.cost;
        assert!(fixture.goes_on(Actor::Main), "{policy}");
        assert!((0..9).all(|_| fixture.step(Actor::Main)), "{policy}");
        let after = load(&fixture.world, "s-0000").0.counters.spent.cost;
        assert!(after.0 >= before.0 + 9 * 5_000_000_000, "{policy}: {before} {after}");
        assert!(
            fixture.heard().iter().any(|line| line.contains("somebody without a terminal switched the limits")),
            "{:?}",
            fixture.heard()
        );
        let status = fixture.world.run(&["status"]).ok();
        assert!(status.contains("limits are off until"), "{status}");
        let report = fixture.world.run(&["report"]).ok();
        assert!(report.contains("limits are off until") && report.contains("(off)"), "{report}");
        let narrow = fixture.world.command(&["report"]).env("COLUMNS", "45").run().ok();
        assert!(narrow.contains("(off)"), "{narrow}");
        let said = fixture.world.run(&["on"]).ok();
        assert!(said.contains("are on again"), "{said}");
        assert!(said.contains("`fusebox off` had let"), "{policy}: {said}");
        assert!(!fixture.step(Actor::Main) || !fixture.step(Actor::Main), "{policy}: nothing stops it any more");
    }
}

/// Nobody tells the agent of it first, as where limits are in force.
#[test]
fn what_repeats_is_written_down_meanwhile() {
    let mut fixture = Fixture::new();
    fixture.begin();
    fixture.world.run(&["off", "--for", "1h"]).ok();
    assert!((0..9).all(|_| fixture.repeats()));
    let log = fixture.world.run(&["log", "--since", "all", "--json"]).ok();
    let found: Vec<&str> = log.lines().filter(|line| line.contains("loop_detection")).collect();
    assert!(found.len() == 1 && found[0].contains(r#""mode":"off""#), "{log}");
}

#[test]
fn limits_are_on_again_once_the_time_is_over() {
    let mut fixture = stopped(&policies()[0]);
    fixture.world.run(&["off", "--for", "1h"]).ok();
    assert!(fixture.goes_on(Actor::Main));
    save(&fixture.world, |store| {
        let mut session = store.session("s-0000").unwrap().unwrap();
        session.limits_off.as_mut().unwrap().until_ms = Some(at(0).wall_ms);
        store.save_session(&session).unwrap();
    });
    assert!(!fixture.step(Actor::Main) || !fixture.step(Actor::Main));
    let heard = fixture.heard();
    let told = heard.iter().filter(|line| line.contains("the limits are on again")).count();
    assert_eq!(told, 1, "{heard:#?}");
}

#[test]
fn a_session_that_starts_meanwhile_is_told_of_it() {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", policies()[0].to_string());
    fixture.world.run(&["off"]).ok();
    fixture.begin();
    assert!((0..9).all(|_| fixture.step(Actor::Main)));
    assert!(fixture.heard().iter().any(|line| line.contains("switched the limits of this repository off")));
    // A session alone can be switched on.
    fixture.world.run(&["on", "s-0000"]).ok();
    assert!(!fixture.step(Actor::Main) || !fixture.step(Actor::Main));
}

#[test]
fn limits_that_were_switched_off_after_a_sessions_end_were_not_off_in_it() {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", policies()[0].to_string());
    fixture.begin();
    assert!(fixture.step(Actor::Main));
    fixture.end();
    fixture.world.run(&["off", "--for", "1h"]).ok();
    for command in [&["status", "--all"][..], &["report"]] {
        let said = fixture.world.run(command).ok();
        assert!(!said.contains("limits were off") && !said.contains("limits are off"), "{command:?}: {said}");
    }
    let json: serde_json::Value = serde_json::from_str(&fixture.world.run(&["report", "--json"]).ok()).unwrap();
    assert!(json["sessions"][0]["session_id"].is_string() && json["sessions"][0]["limits_off"].is_null(), "{json}");
}

/// A session that has ended has no limits that are off now, and `fusebox on` is for it, too.
#[test]
fn limits_of_a_session_that_has_ended_are_not_off_now() {
    let mut fixture = Fixture::new();
    fixture.world.write("home/.claude/fusebox.json", policies()[0].to_string());
    fixture.world.run(&["off", "--for", "1h"]).ok();
    fixture.begin();
    assert!((0..9).all(|_| fixture.step(Actor::Main)));
    fixture.end();
    let told = |command: &[&str]| fixture.world.run(command).ok();
    for command in [vec!["status", "--all"], vec!["report"]] {
        let said = told(&command);
        assert!(!said.contains("limits are off") && said.contains("limits were off from"), "{command:?}: {said}");
    }
    let said = told(&["on"]);
    assert!(said.contains("are on again"), "{said}");
    let until = load(&fixture.world, "s-0000").0.limits_off.unwrap().until_ms.unwrap();
    let since = load(&fixture.world, "s-0000").0.limits_off.unwrap().since_ms;
    assert!(until < since + 3_600_000, "the client that takes the session up has its limits again");
}

#[test]
fn only_a_person_switches_limits_off() {
    let world = with_shop();
    for verb in ["off", "on"] {
        let outcome = world.command(&[verb, SHOP]).env("CLAUDECODE", "1").run();
        assert!(outcome.code == 1 && outcome.stderr.contains("is a person's to run"), "{outcome}");
    }
    assert_eq!(load(&world, SHOP).0.limits_off, None);
    assert_snapshot!(world.run(&["on", "5f0c"]), @r"
    [stderr]
    error: the limits of session 5f0c1d2e are not off
    [exit 1]
    ");
    assert_snapshot!(world.run(&["off", "--for", "1"]), @r"
    [stderr]
    error: invalid value '1' for '--for <TIME>': expected a time like `90s`, `10m` or `1h`
      hint: `fusebox off --for 1m`
    [exit 2]
    ");
    assert_snapshot!(world.run(&["off", "5f0c"]), @r"
    the limits of session 5f0c1d2e are off until `fusebox on`
    session 5f0c1d2e takes it at once
    all that is spent counts
    [exit 0]
    ");
    assert_snapshot!(world.run(&["status"]), @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      limits are off, by a person (`fusebox on`)
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  running  0 tool calls, 0.50 USD
        developer a1b2c3d4  running  17 tool calls, 0.42 USD  depth 1  task 7
          tool calls  [######----] 17/25 max_turns  project
          cost        [####------] 0.42/1.00 USD max_cost_usd  project
        developer a3fa11ed  ended by limit  25 tool calls, 0.64 USD  depth 1
      + 1 finished; --all shows it
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
    assert_snapshot!(world.run(&["on", "5f0c"]), @r"
    the limits of session 5f0c1d2e are on again
    session 5f0c1d2e takes it at once
    max_cost_usd of developer a1b2c3d4 leaves too little for the next request (0.42 USD of 1.00 USD): its next step is stopped
    [exit 0]
    ");
    assert_snapshot!(log(&world), @r"
    AGENT_WARNING developer a3fa11ed max_turns 20/25 (80 %+), warn, project
    AGENT_FAILED developer a3fa11ed max_turns 25/25, terminate, project
    NOTICE somebody without a terminal switched the limits of session 5f0c1d2e off until `fusebox on`; all that is spent counts
    NOTICE somebody without a terminal switched the limits of session 5f0c1d2e on again
    ");
}

/// Asks for a call under one limit of this layer while limits are off.
fn asked(layer: Layer, locked: bool, managed: &[&str]) -> (Decision, String) {
    let mut limits = rules(&[("max_turns", 0, Action::Terminate)], layer);
    limits.limits[0].locked = locked;
    let managed = managed.iter().map(|name| (*name).to_owned()).collect();
    let limits_off = Some(LimitsOff { since_ms: at(0).wall_ms, until_ms: None, managed, ..LimitsOff::default() });
    let mut state = SessionState::new(Session { limits_off, limits: LimitSet::default(), ..session("s1") });
    let (id, tool, intent) = ("t1".to_owned(), "Read".to_owned(), Intent::Plain);
    let call = Call { id, tool, intent, fingerprints: Fingerprints::default(), ..Call::default() };
    let (prompt_id, kind) = (Some("p1".to_owned()), EventKind::ToolRequested(call));
    let event = Event { session: "s1".to_owned(), agent: Agent::Main, prompt_id, at: at(9), attended: true, kind };
    let (_, verdict) = apply_event(&mut state, &event, &Ingested::default(), &SameForAll(limits));
    (verdict.decision, state.effects.log_records.iter().map(|record| record.mode.clone()).collect())
}

#[test]
fn the_managed_files_and_the_teams_limits_stay_in_force() {
    let off = (Decision::Allow, "off".to_owned());
    let in_force = (Decision::Deny, String::new());
    assert_eq!(asked(Layer::User, false, &[]), off);
    assert_eq!(asked(Layer::Project, false, &["max_turns"]), off);
    assert_eq!(asked(Layer::Grant, false, &["max_cost_usd"]), off);
    assert_eq!(asked(Layer::Managed, false, &[]), in_force);
    assert_eq!(asked(Layer::Grant, false, &["max_turns"]), in_force);
    assert_eq!(asked(Layer::Team, true, &[]), in_force);
    assert_eq!(asked(Layer::BuiltIn, true, &[]), in_force);
}

/// What a limit has stopped goes on where that limit is off, and only there.
#[test]
fn what_the_managed_file_or_the_team_has_stopped_stays_so() {
    for (layer, name, _) in LAYERS {
        let world = with_shop();
        let rule = rules(&[("max_cost_usd", PICO, Action::Terminate)], layer).limits.remove(0);
        let finding = Finding::of(&rule, Scope::Session, 2 * PICO);
        save(&world, |store| {
            let mut session = store.session(SHOP).unwrap().unwrap();
            session.order = Some(Order::halted(finding.clone(), None));
            store.save_session(&session).unwrap();
        });
        let said = world.run(&["off", "5f0c"]).ok();
        let stays = matches!(layer, Layer::Managed | Layer::Team);
        assert_eq!(said.contains("goes on"), !stays, "{name}: {said}");
        assert_eq!(load(&world, SHOP).0.order.is_some(), stays, "{name}: {said}");
    }
}

#[test]
fn off_names_what_stays() {
    let world = with_shop();
    world.write("home/.claude/fusebox.json", r#"{"team": "acme"}"#);
    let said = world.run(&["off", "5f0c"]).ok();
    assert!(said.ends_with("the caps of team acme stay, and all that is spent counts\n"), "{said}");
    assert_eq!(said.matches("`fusebox on`").count(), 1, "{said}");
    let said = world.run(&["off", "5f0c", "--for", "1h"]).ok();
    assert!(said.contains("; `fusebox on` switches the others on again before that"), "{said}");
    assert_eq!(said.matches("`fusebox on`").count(), 1, "{said}");
}

/// What a person orders for a whole repository is written down when it is given, whether or not a session hears of it: who, where
/// and, of what ends by itself, until when.
#[test]
fn an_order_for_a_repository_is_logged_once_where_no_session_is_at_work() {
    let world = crate::world::TestWorld::new();
    for (words, says) in [
        (&["off", "--for", "1h"][..], &["switched the limits of [ROOT]/project off until 20", "spent counts"][..]),
        (&["on"], &["switched the limits of [ROOT]/project on again"]),
        (&["off"], &["switched the limits of [ROOT]/project off until `fusebox on`"]),
        (&["on"], &["switched the limits of [ROOT]/project on again"]),
        (&["trust"], &["said that [ROOT]/project is trusted"]),
        (&["trust", "--revoke"], &["said that [ROOT]/project is not trusted"]),
    ] {
        let all = || world.command(&["log"]).env("COLUMNS", "200").run().stdout;
        let before = all();
        world.run(words).ok();
        let after = all();
        let added = after.strip_prefix(&before).unwrap();
        assert_eq!(added.lines().count(), 1, "{words:?}: {added}");
        assert!(added.contains("NOTICE somebody without a terminal"), "{words:?}: {added}");
        assert!(says.iter().all(|says| added.contains(says)), "{words:?}: {added}");
        let number = added.trim_start_matches('#').split(' ').next().unwrap();
        let told = world.command(&["explain", number]).env("COLUMNS", "200").run().ok();
        assert_eq!(told, added, "{words:?}");
        let file = world.read("state/execution-limits.log").unwrap();
        assert_eq!(file.lines().count(), after.lines().count(), "{file}");
    }
}

/// What `fusebox off` lets go on is said of sessions whose client is there; of another that is named, when that takes it.
#[test]
fn off_says_nothing_of_sessions_whose_client_is_gone() {
    for leaves in [Fixture::leaves, Fixture::vanishes] {
        let mut fixture = stopped(&policies()[2]);
        leaves(&mut fixture);
        let said = fixture.world.run(&["off", "--for", "1h"]).ok();
        assert!(said.contains("all that is spent counts"), "{said}");
        assert!(!said.contains("s-0000") && !said.contains("--resume"), "{said}");
        fixture.takes_up();
        assert!(fixture.prompt() && fixture.step(Actor::Main));
    }
    let mut fixture = stopped(&policies()[2]);
    fixture.leaves();
    let said = fixture.world.run(&["off", "s-0000"]).ok();
    assert!(said.contains("session s-0000 takes it when a client takes it up"), "{said}");
    assert!(said.contains("claude --resume s-0000") && !said.contains("at once"), "{said}");
}

/// Each time counts: reports tell of the last, and how often limits were off before that.
#[test]
fn limits_that_were_off_more_than_once_are_said_to_have_been() {
    let mut fixture = Fixture::new();
    fixture.begin();
    let told = |command: &[&str]| fixture.world.command(command).env("COLUMNS", "200").run().ok();
    for before in ["", ", and once before that", ", and 2 times before that"] {
        // Limits that are off already are not off once more.
        for words in [&["off"][..], &["off", "--for", "1h"]] {
            told(words);
            let said = told(&["status"]);
            let until = said.split("limits are off").nth(1).unwrap().lines().next().unwrap();
            assert!(until.ends_with(&format!("(`fusebox on`){before}")), "{said}");
        }
        told(&["on"]);
        for command in [&["status"][..], &["report"], &["explain", "s-0000"]] {
            let said = told(command);
            let line =
                said.lines().find(|line| line.contains("limits were off from")).unwrap_or_else(|| panic!("{said}"));
            assert!(line.trim_end_matches('.').ends_with(&format!(", by a person{before}")), "{command:?}: {said}");
        }
    }
    let json: Value = serde_json::from_str(&told(&["report", "--json"])).unwrap();
    assert_eq!(json["sessions"][0]["limits_off"]["times"], 3, "{json}");
}

/// Of several sessions of a repository each has a line with its name.
#[test]
fn the_log_names_the_session_whose_limits_a_person_switches() {
    let mut fixture = Fixture::new();
    fixture.begin();
    let project = load(&fixture.world, "s-0000").0.project;
    save(&fixture.world, |store| {
        store.save_session(&Session { project, ..session("77aa01bc-0000") }).unwrap();
    });
    for words in ["off", "on"] {
        fixture.world.run(&[words]).ok();
    }
    let log = fixture.world.command(&["log"]).env("COLUMNS", "200").run().ok();
    for deed in ["off until", "on again"] {
        for session in ["s-0000", "77aa01bc"] {
            let words = format!("switched the limits of session {session} {deed}");
            assert_eq!(log.matches(&words).count(), 1, "{log}");
        }
    }
    assert!(!log.contains("this session"), "{log}");
}

/// By then the repository's limits are off, or on again: the others are not left as they were.
#[test]
fn a_session_that_cannot_be_changed_is_named_and_leaves_the_others_alone() {
    let mut fixture = Fixture::new();
    fixture.begin();
    let project = load(&fixture.world, "s-0000").0.project;
    save(&fixture.world, |store| {
        for id in ["77aa01bc-0000", "77bb01bc-0000"] {
            store.save_session(&Session { project: project.clone(), ..session(id) }).unwrap();
        }
        store.save_run(&main_run("77aa01bc-0000", "m1")).unwrap();
    });
    let damage = "UPDATE run SET engine = 'not to be read' WHERE id = 'm1'";
    rusqlite::Connection::open(fixture.world.path("state/state.db")).unwrap().execute_batch(damage).unwrap();
    for words in ["off", "on"] {
        let outcome = fixture.world.run(&[words]);
        let fault = "error: session 77aa01bc is as it was: the state is damaged";
        assert!(outcome.code == 1 && outcome.stderr.starts_with(fault), "{words}: {outcome}");
        assert!(outcome.stdout.contains(&format!("project are {words}")), "{words}: {outcome}");
        assert!(outcome.stdout.contains("session s-0000 takes it at once"), "{words}: {outcome}");
        for id in ["s-0000", "77bb01bc-0000"] {
            let until_ms = load(&fixture.world, id).0.limits_off.map(|off| off.until_ms);
            assert_eq!(until_ms.is_some_and(|until| until.is_none()), words == "off", "{words} {id}: {outcome}");
        }
    }
    // What is named alone fails as it is.
    let outcome = fixture.world.run(&["off", "77aa01bc"]);
    assert!(outcome.code == 1 && outcome.stdout.is_empty(), "{outcome}");
}
