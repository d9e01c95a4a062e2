//! Commands that nobody names a target for: they take what there is, once a person has seen it.

use std::process::Command;

use fusebox::domain::session::{Session, Status};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::session_commands::{SHOP, log, standing};
use crate::state::{save, session, with_shop};
use crate::world::{FUSEBOX, TestWorld};

/// The shop beside a session that waits for a prompt.
fn with_two() -> TestWorld {
    let world = with_shop();
    save(&world, |store| {
        let idle = Session { project: "/srv/api".to_owned(), ..session("77aa01bc-0000") };
        store.save_session(&idle).unwrap();
    });
    world
}

/// Runs a command in a terminal of its own, where a person types `keys`; returns the screen.
fn at_a_terminal(world: &TestWorld, words: &str, keys: &str) -> String {
    let line = format!("printf '{keys}' | {} -qec '{FUSEBOX} {words}' /dev/null", script());
    let outcome = world.program("/bin/sh", &["-c", &line]).env("NO_COLOR", "1").run();
    // The terminal shows what is typed as soon as it comes: before the question, or after it.
    let typed = keys.replace("\\n", "\n");
    outcome.stdout.replace('\r', "").replacen(typed.as_str(), "", usize::from(!typed.is_empty()))
}

fn script() -> String {
    let found = Command::new("/bin/sh").args(["-c", "command -v script"]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

fn statuses(world: &TestWorld) -> Vec<Status> {
    [SHOP, "77aa01bc-0000"].map(|id| crate::state::load(world, id).0.status).to_vec()
}

#[test]
fn without_a_terminal_everything_takes_a_yes() {
    let world = with_two();
    assert_snapshot!(world.run(&["stop"]), @r"
    [stderr]
    error: `fusebox stop` would take all that is open (at work, held, or at a prompt) on this machine
      WHAT              STATE                   COST  PROJECT
      session 5f0c1d2e  1 subagent at work  2.36 USD  /srv/shop
      session 77aa01bc  waits for a prompt  0.00 USD  /srv/api
      hint: nobody is here to say yes: add `--yes`, or name one: `fusebox stop ID`
    [exit 1]
    ");
    assert_eq!(statuses(&world), [Status::Running; 2]);
}

#[test]
fn a_yes_takes_everything_and_another_gives_it_back() {
    let world = with_two();
    assert_snapshot!(world.run(&["pause", "--yes", "--reason", "night"]), @r"
    2 are open (at work, or at a prompt) on this machine:
    WHAT              STATE                   COST  PROJECT
    session 5f0c1d2e  1 subagent at work  2.36 USD  /srv/shop
    session 77aa01bc  waits for a prompt  0.00 USD  /srv/api

    session 5f0c1d2e is paused; that takes effect at its next event
    1 run below it follows
    `fusebox resume 5f0c1d2e` lets it go on
    session 77aa01bc is paused; that takes effect at its next event
    `fusebox resume 77aa01bc` lets it go on
    [exit 0]
    ");
    assert_eq!(statuses(&world), [Status::Paused; 2]);
    assert_snapshot!(world.run(&["pause", "--yes"]), @r"
    nothing is open (at work, or at a prompt) on this machine
    [exit 0]
    ");
    assert_snapshot!(world.run(&["resume"]), @r"
    [stderr]
    error: `fusebox resume` would take all that is held (paused, or stopped by a person) on this machine
      WHAT              STATE                                         PROJECT
      session 5f0c1d2e  paused: a person paused it (`fusebox pause`)  /srv/shop
      session 77aa01bc  paused: a person paused it (`fusebox pause`)  /srv/api
      (a wider terminal shows COST, too)
      hint: nobody is here to say yes: add `--yes`, or name one: `fusebox resume ID`
    [exit 1]
    ");
    assert_snapshot!(world.run(&["resume", "--yes", "--no-grant"]), @r"
    2 are held (paused, or stopped by a person) on this machine:
    WHAT              STATE                                         PROJECT
    session 5f0c1d2e  paused: a person paused it (`fusebox pause`)  /srv/shop
    session 77aa01bc  paused: a person paused it (`fusebox pause`)  /srv/api
    (a wider terminal shows COST, too)

    session 5f0c1d2e: paused -> resumed
    session 5f0c1d2e is still at work and goes on
    session 77aa01bc: paused -> resumed
    session 77aa01bc goes on with its next prompt
    [exit 0]
    ");
    assert_eq!(statuses(&world), [Status::Running; 2]);
    assert_snapshot!(log(&world), @r#"
    AGENT_WARNING developer a3fa11ed in shop max_turns 20/25 (80 %+), warn, project
    AGENT_FAILED developer a3fa11ed in shop max_turns 25/25, terminate, project
    AGENT_PAUSED main b7d1aaaa in shop Session was paused by `fusebox pause`: "night"
    AGENT_PAUSED session in api Session was paused by `fusebox pause`: "night"
    AGENT_RESUMED main b7d1aaaa in shop somebody without a terminal resumed the session
    AGENT_RESUMED session in api somebody without a terminal resumed the session
    "#);
}

#[test]
fn at_a_terminal_a_person_sees_what_and_says_yes_or_no() {
    let world = with_two();
    assert_snapshot!(at_a_terminal(&world, "stop", "n\\n"), @r"
    2 are open (at work, held, or at a prompt) on this machine:
    WHAT              STATE                   COST  PROJECT
    session 5f0c1d2e  1 subagent at work  2.36 USD  /srv/shop
    session 77aa01bc  waits for a prompt  0.00 USD  /srv/api

    Stop all 2 of them? [y/N] nothing was changed
    ");
    assert_eq!(statuses(&world), [Status::Running; 2]);
    assert_snapshot!(at_a_terminal(&world, "stop", "y\\n"), @r"
    2 are open (at work, held, or at a prompt) on this machine:
    WHAT              STATE                   COST  PROJECT
    session 5f0c1d2e  1 subagent at work  2.36 USD  /srv/shop
    session 77aa01bc  waits for a prompt  0.00 USD  /srv/api

    Stop all 2 of them? [y/N] session 5f0c1d2e is stopped; that takes effect at its next event
    1 run below it follows
    `fusebox resume 5f0c1d2e` lets it go on
    session 77aa01bc is stopped; that takes effect at its next event
    `fusebox resume 77aa01bc` lets it go on
    ");
    assert_eq!(statuses(&world), [Status::Stopped; 2]);
    assert_snapshot!(at_a_terminal(&world, "resume --no-grant", "yes\\n"), @r"
    2 are held (paused, or stopped by a person) on this machine:
    WHAT              STATE                                          PROJECT
    session 5f0c1d2e  stopped: a person stopped it (`fusebox stop`)  /srv/shop
    session 77aa01bc  stopped: a person stopped it (`fusebox stop`)  /srv/api
    (a wider terminal shows COST, too)

    Resume all 2 of them? [y/N] session 5f0c1d2e: stopped -> resumed
    session 5f0c1d2e is still at work and goes on
    session 77aa01bc: stopped -> resumed
    session 77aa01bc goes on with its next prompt
    ");
    assert_eq!(statuses(&world), [Status::Running; 2]);
}

#[test]
fn the_only_one_is_taken_and_said() {
    let world = with_shop();
    assert_snapshot!(at_a_terminal(&world, "pause", ""), @r"
    session 5f0c1d2e is the only one that is open (at work, or at a prompt)
    session 5f0c1d2e is paused; that takes effect at its next event
    1 run below it follows
    `fusebox resume 5f0c1d2e` lets it go on
    ");
    assert_snapshot!(at_a_terminal(&world, "resume", ""), @r"
    session 5f0c1d2e is the only one that is held (paused, or stopped by a person);
      what a limit has stopped stays stopped until it is named
    session 5f0c1d2e: paused -> resumed
    session 5f0c1d2e is still at work and goes on
    ");
    // Nothing is paused or stopped: what a limit has ended last is meant, where a person says so.
    assert_snapshot!(at_a_terminal(&world, "resume", "n\\n"), @r"
    nothing is paused; trip #2 (max_turns) in /srv/shop is the last that stands;
      none does in this project
    Let a3fa11ed go on? [y/N] nothing was changed
    ");
    assert_snapshot!(world.run(&["resume", "a3fa11ed", "--no-grant"]), @r"
    developer a3fa11ed: ended by limit -> resumed
    max_turns would stop it again at once (25 of 25 used): `fusebox grant a3fa11ed max_turns=+12` gives more
    max_cost_usd would stop it again at once (0.64 USD of 1.00 USD used): `fusebox grant a3fa11ed max_cost_usd=+1.00` gives more
    then developer a3fa11ed goes on when the main agent sends it a message
    [exit 0]
    ");
    assert_snapshot!(world.run(&["resume"]), @r"
    [stderr]
    error: nothing is held: nothing is paused, and no stop stands
      hint: `fusebox status` shows what is at work
    [exit 1]
    ");
    let world = with_shop();
    assert_snapshot!(world.run(&["grant", "max_turns=+5"]), @r"
    trip #2 (max_turns) in /srv/shop is the last that stands; none does in this project
    max_turns of developer a3fa11ed: 25 -> 30 (25 used)
    max_cost_usd would stop it again at once (0.64 USD of 1.00 USD used): `fusebox grant a3fa11ed max_cost_usd=+1.00` gives more
    then developer a3fa11ed goes on when the main agent sends it a message
    [exit 0]
    ");
}

#[test]
fn an_agent_stops_no_session_but_one_that_it_names() {
    let world = with_two();
    for verb in ["stop", "pause", "resume"] {
        let outcome = world.command(&[verb, "--yes"]).env("CLAUDECODE", "1").run();
        assert!(outcome.code == 1 && outcome.stderr.contains("is a person's to run"), "{outcome}");
    }
    assert_eq!(statuses(&world), [Status::Running; 2]);
}

/// One session at work is meant without a question, and so without anybody to answer it.
#[test]
fn the_only_session_at_work_is_taken_without_a_terminal() {
    let world = with_shop();
    let said = world.run(&["pause"]).ok();
    assert!(said.starts_with("session 5f0c1d2e is the only one that is open (at work, or at a prompt)"), "{said}");
    assert_eq!(crate::state::load(&world, SHOP).0.status, Status::Paused);
}

#[test]
fn what_a_person_has_stopped_is_called_a_persons() {
    for (verb, words) in [("stop", "a stop by a person, in"), ("pause", "a pause by a person, in")] {
        let world = with_shop();
        world.run(&[verb, "a1b2c3d4"]).ok();
        let said = world.run(&["reset", "--yes"]).ok();
        let first = said.lines().next().unwrap();
        assert!(first.starts_with('#') && first.contains(words) && first.contains("is the last that stands"), "{said}");
        assert!(!said.contains("explicit_"), "{said}");
    }
}

#[test]
fn the_examples_of_a_command_are_its_own() {
    let world = TestWorld::new();
    for verb in ["stop", "pause"] {
        let help = world.run(&[verb, "--help"]).ok();
        let examples = help.split("Examples:\n").nth(1).unwrap().lines().map(str::trim);
        let examples: Vec<&str> = examples.take_while(|line| !line.is_empty()).collect();
        assert!(examples.len() > 3 && examples.iter().all(|it| it.starts_with(&format!("fusebox {verb}"))), "{help}");
    }
}

#[test]
fn an_agent_type_names_the_only_one_of_its_kind() {
    let world = with_shop();
    assert_snapshot!(world.run(&["pause", "developer"]), @r"
    developer a1b2c3d4 is the only one at work
    developer a1b2c3d4 is paused; that takes effect at its next event
    `fusebox resume a1b2c3d4` lets it go on
    [exit 0]
    ");
    assert_snapshot!(world.run(&["grant", "developer", "max_turns=+1"]), @r"
    [stderr]
    error: more than one `developer` is at work, paused or stopped
      hint: name one of these:
        run a1b2c3d4  developer  pausing  session 5f0c1d2e
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
    [exit 1]
    ");
    assert_snapshot!(world.run(&["resume", "main"]), @r"
    [stderr]
    error: no `main` is paused or stopped
      hint: name one of these:
        run b7d1aaaa  main  running  session 5f0c1d2e
    [exit 1]
    ");
    assert_snapshot!(world.run(&["stop", "qa"]), @r"
    [stderr]
    error: no run or session is called `qa`
      hint: name one of these:
        session 5f0c1d2e  running
        run a1b2c3d4  developer  pausing  session 5f0c1d2e
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
        run b7d1aaaa  main  running  session 5f0c1d2e
    [exit 1]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running
    a1b2c3d4e5: paused by explicit_pause; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 1.00 USD project
    ");
}

#[test]
fn explain_alone_tells_of_the_last_trip() {
    const LAST: &str = "Trip #2 is the last one. It was at 2026-11-20 10:04, in /srv/shop.";
    let world = with_shop();
    let second = world.run(&["explain", "2"]).ok();
    assert_eq!(world.run(&["explain"]).ok(), format!("{LAST}\n\n{second}"));
    let story: serde_json::Value = serde_json::from_str(&world.run(&["explain", "--json"]).ok()).unwrap();
    assert_eq!((&story["trips"][0]["id"], &story["session"]["runs"][0]["run_id"]), (&2.into(), &"a3fa11ed00".into()));
    let log: Vec<serde_json::Value> = story["timeline"].as_array().unwrap().clone();
    let lines = world.run(&["log", "--json", "--since", "all"]).ok();
    let same: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(log, same);
    assert_snapshot!(TestWorld::new().run(&["explain"]), @r"
    nothing has tripped yet; `fusebox status` shows what is at work
    [exit 0]
    ");
}

#[test]
fn what_a_limit_paused_goes_on_once_its_client_is_gone() {
    let world = TestWorld::new();
    let limits = json!({"main": {"max_turns": 1, "grace_turns": 0, "timeout_action": "pause", "warn_at": []}});
    world.write("home/.claude/fusebox.json", limits.to_string());
    let send = |name: &str, rest: Value| world.hook(world.event("5f0c1d2e-0000", "p1", name, &rest)).ok();
    send("SessionStart", json!({"source": "startup"}));
    send("UserPromptSubmit", json!({"prompt": "go"}));
    for id in ["t1", "t2"] {
        send("PreToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id}));
    }
    send("SessionEnd", json!({"reason": "other"}));
    assert!(world.run(&["status"]).stdout.contains("paused"));
    assert_snapshot!(world.run(&["resume", "--no-grant"]), @r"
    main p1 is the only one that is held (paused, or stopped by a person); what a limit has stopped stays stopped until it is named
    main p1: paused -> resumed
    max_turns would stop it again at once (1 of 1 used): `fusebox grant p1 max_turns=+1` gives more
    then main p1 goes on with the next prompt: `claude --resume 5f0c1d2e-0000`
    [exit 0]
    ");
}
