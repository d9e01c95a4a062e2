//! Sessions whose client is gone: what binds their next prompt is in the files, and every lever names the command that takes them up.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

/// What no text may say of a budget that is in no file any more.
const IN_FORCE: [&str; 4] = ["fusebox grant user", "fusebox grant project", "would still be blocked", "not enough"];

/// Whether a text draws the bar of the budget.
fn has_bar(text: &str) -> bool {
    text.lines().any(|line| line.contains("[#") && line.contains("/0.0900 USD"))
}

fn write(fixture: &Fixture, policy: &Value) {
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
}

/// Plays until a limit holds the main agent, and its client is gone.
fn left(policy: &Value) -> Fixture {
    let mut fixture = begin(policy);
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "{policy} holds nothing");
    fixture.stops();
    fixture.leaves();
    fixture
}

/// A budget that was taken out of the file holds nobody: neither a figure nor an advice says that it does.
#[test]
fn a_budget_that_is_in_no_file_any_more_is_not_in_force() {
    let readers = ["report", "status", "status --all", "status s-0000", "explain", "explain s-0000", "explain p1-0000"];
    let levers = ["resume s-0000", "resume p1-0000", "grant s-0000 max_turns=+90", "reset s-0000"];
    let mut wrong = Vec::new();
    let mut number = 0;
    for scope in ["user", "project"] {
        for action in ["terminate", "pause", "request_increase"] {
            for is_blocked in [false, true] {
                let policy = json!({"session": {"max_turns": 900},
                    scope: {"max_cost_usd_per_day": 0.09, "timeout_action": action}});
                let mut fixture = begin(&policy);
                assert!((0..30).any(|_| !fixture.step(Actor::Main)));
                fixture.stops();
                assert!(!is_blocked || !fixture.prompt());
                fixture.leaves();
                let in_force = shell(&fixture, "fusebox report");
                assert!(has_bar(&in_force), "{in_force}");
                let caps = |fixture: &Fixture| shell(fixture, "fusebox metrics").contains("fusebox_budget_cap_usd{");
                assert!(caps(&fixture));
                write(&fixture, &json!({"session": {"max_turns": 900}}));
                if caps(&fixture) {
                    wrong.push(format!("{scope} {action} {is_blocked}: metrics tell of it"));
                }
                // One lever at a time: each of them with several ways to have ended.
                let lever = levers[number % levers.len()];
                number += 1;
                let mut told = Vec::new();
                for command in readers.into_iter().chain([lever]) {
                    let said = shell(&fixture, &format!("fusebox {command}"));
                    if has_bar(&said) || IN_FORCE.iter().any(|words| said.contains(words)) {
                        wrong.push(format!("{scope} {action} {is_blocked}: {command}:\n{said}"));
                    }
                    told.push(said);
                }
                let granted = shell(&fixture, &format!("fusebox grant {scope} max_cost_usd_per_day=+0.01"));
                assert!(granted.contains(&format!("no max_cost_usd_per_day is set for the {scope}")), "{granted}");
                fixture.takes_up();
                if !(fixture.prompt() && fixture.step(Actor::Main)) {
                    wrong.push(format!("{scope} {action} {is_blocked}: {lever}: it does not go on: {told:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whoever lets a session go on whose client is gone is told by all commands what takes it up, with its whole id.
#[test]
fn what_was_let_go_on_in_a_session_that_is_left_names_the_command_that_takes_it_up() {
    let cap = |limits: Value, action: &str| {
        let mut limits = limits;
        limits["timeout_action"] = json!(action);
        limits["grace_turns"] = json!(0);
        limits
    };
    let mut wrong = Vec::new();
    for (holder, limits, more) in [
        ("session", json!({"max_cost_usd": 0.09}), "max_cost_usd=+9"),
        ("session", json!({"max_turns": 3}), "max_turns=+9"),
        ("main", json!({"max_turns": 3}), "max_turns=+9"),
        ("main", json!({"max_cost_usd": 0.09}), "max_cost_usd=+9"),
    ] {
        for action in ["terminate", "pause"] {
            let id = if holder == "session" { "s-0000" } else { "p1-0000" };
            for lever in [format!("resume {id}"), format!("grant {id} {more}")] {
                let mut fixture = left(&json!({holder: cap(limits.clone(), action)}));
                let said = shell(&fixture, &format!("fusebox {lever}"));
                let places = ["status", "status s-0000", "explain s-0000", "explain p1-0000"];
                let told = places.map(|place| (place, shell(&fixture, &format!("fusebox {place}"))));
                for (place, text) in told.iter().map(|(place, text)| (*place, text)).chain([("answer", &said)]) {
                    if !text.contains("claude --resume s-0000") {
                        wrong.push(format!("{holder} {limits} {action}: {lever}: {place}:\n{text}"));
                    }
                }
                fixture.takes_up();
                assert!(fixture.prompt() && fixture.step(Actor::Main), "{holder} {limits} {action}: {lever}: {said}");
                let status = shell(&fixture, "fusebox status");
                assert!(!status.contains("claude --resume"), "{holder} {limits} {action}: {lever}: {status}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A prompt after a limit has ended the main agent begins with whole limits, whether or not a client was there when more was given.
#[test]
fn the_next_prompt_begins_with_whole_limits_once_a_shared_budget_was_raised() {
    let policy = |scope: &str, calls: usize| json!({"main": {"max_turns": calls, "grace_turns": 0, "warn_at": []}, scope: {"max_cost_usd_per_day": 0.09}});
    let steps = |fixture: &mut Fixture| (0..30).take_while(|_| fixture.step(Actor::Main)).count();
    for scope in ["user", "project"] {
        let within = steps(&mut begin(&policy(scope, 30)));
        for is_left in [false, true] {
            let mut fixture = begin(&policy(scope, within + 1));
            assert_eq!(steps(&mut fixture), within);
            fixture.stops();
            if is_left {
                fixture.leaves();
            }
            let granted = shell(&fixture, &format!("fusebox grant {scope} max_cost_usd_per_day=+9"));
            if is_left {
                fixture.takes_up();
            }
            assert!(fixture.prompt(), "{scope}: {granted}");
            assert_eq!(steps(&mut fixture), within + 1, "{scope}, left: {is_left}: {granted}");
        }
    }
}
