//! A session and an agent of it are held at once: what a person is told to type lets the work go on.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::{commands, shell};
use crate::session_commands::prompt_block::begin;
use crate::world::with;

/// Returns a session in which an agent is paused: by its limit, or by a person.
fn paused(actor: Actor, by_limit: bool) -> Fixture {
    let limits = json!({"max_turns": 2, "grace_turns": 0, "timeout_action": "pause", "increase": 9});
    let limits = if by_limit { limits } else { json!({}) };
    let mut fixture = begin(&match actor {
        Actor::Main => json!({"main": limits}),
        Actor::Worker => json!({"agents": {"worker": limits}}),
    });
    if actor == Actor::Worker {
        fixture.spawn("");
    }
    if !by_limit {
        shell(&fixture, &format!("fusebox pause {}", id(actor)));
    }
    assert!((0..9).any(|_| !fixture.step(actor)));
    fixture
}

fn id(actor: Actor) -> &'static str {
    if actor == Actor::Main { "p1-0000" } else { "a1-0000" }
}

/// Types a command, and what that says lets go on, until nothing new is said.
fn follows(fixture: &Fixture, first: &str) -> String {
    let (mut typed, mut said) = (vec![first.to_owned()], shell(fixture, first));
    while let Some(next) = commands(&said).into_iter().find(|next| !typed.contains(next)) {
        said += &shell(fixture, &next);
        typed.push(next);
    }
    said
}

#[test]
fn whoever_lifts_an_agent_is_told_what_holds_its_session() {
    let mut wrong = Vec::new();
    for (actor, by_limit) in [Actor::Main, Actor::Worker].into_iter().flat_map(|it| [(it, true), (it, false)]) {
        for order in ["stop", "pause"] {
            let mut fixture = paused(actor, by_limit);
            shell(&fixture, &format!("fusebox {order} s-0000"));
            fixture.stops();
            let said = follows(&fixture, &format!("fusebox resume {}", id(actor)));
            let first = said.split("[exit ").next().unwrap();
            let is_told = first.contains("fusebox resume s-0000") && !first.contains("goes on w");
            let is_taken = first.contains("session s-0000: ");
            if !is_told && !is_taken {
                wrong.push(format!("{actor:?} {by_limit} {order}: {first}"));
            }
            if !fixture.goes_on(actor) {
                wrong.push(format!("{actor:?} {by_limit} {order} does not go on: {said}"));
            }
        }
    }
    for order in ["stop", "pause"] {
        let mut fixture = paused(Actor::Main, true);
        shell(&fixture, &format!("fusebox {order} s-0000"));
        fixture.stops();
        let said = follows(&fixture, "fusebox resume s-0000");
        if !fixture.goes_on(Actor::Main) {
            wrong.push(format!("{order}, by the session: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A session's stop ends what its main agent's pause had only held.
#[test]
fn a_paused_main_agent_is_stopped_with_its_session() {
    for by_limit in [true, false] {
        let fixture = paused(Actor::Main, by_limit);
        shell(&fixture, "fusebox stop s-0000");
        let told: Value = serde_json::from_str(&fixture.world.run(&["status", "--json"]).ok()).unwrap();
        let run = &told["sessions"][0]["runs"][0];
        assert_eq!([&run["status"], &run["stop_reason"]], ["stopped", "explicit_stop"], "{run}");
    }
}

/// Whoever names a session means the one run of it that is held.
#[test]
fn a_session_of_which_one_run_is_held_is_resumed_by_its_name() {
    for (actor, by_limit) in [Actor::Main, Actor::Worker].into_iter().flat_map(|it| [(it, true), (it, false)]) {
        let mut fixture = paused(actor, by_limit);
        fixture.stops();
        let said = shell(&fixture, "fusebox resume s-0000");
        assert!(said.contains(&format!("{} is the one run of it that is held", id(actor))), "{said}");
        assert!(fixture.goes_on(actor), "{said}");
    }
    let mut fixture = paused(Actor::Worker, true);
    shell(&fixture, "fusebox pause p1-0000");
    assert!(!fixture.step(Actor::Main));
    let said = shell(&fixture, "fusebox resume s-0000");
    assert!(said.contains("fusebox resume p1-0000") && said.contains("fusebox resume a1-0000"), "{said}");
    assert!(said.contains("nothing holds it itself"), "{said}");
}

/// Two limits hold the work: what `grant` says lets it go on.
#[test]
fn who_grants_more_of_one_limit_is_told_of_the_other() {
    for action in ["pause", "terminate"] {
        let limits = |rest: &Value| with(json!({"grace_turns": 0, "timeout_action": action}), rest);
        let (main, session) = (limits(&json!({"max_turns": 2})), limits(&json!({"max_cost_usd": 0.02})));
        let mut fixture = begin(&json!({"main": main, "session": session}));
        assert!((0..9).any(|_| !fixture.step(Actor::Main)));
        // The last response leaves too little for the next request, and no event has come since.
        fixture.responds(Actor::Main);
        let said = follows(&fixture, "fusebox grant p1-0000 max_turns=+9");
        assert!(said.contains("max_cost_usd would stop it again at once") && !said.contains("error:"), "{said}");
        assert!(fixture.goes_on(Actor::Main), "{action}: {said}");
    }
}

/// While a question is on the client's screen, `explain` says that, and how much of its limit is used.
#[test]
fn an_open_dialog_is_explained_with_its_limit_and_what_to_do() {
    for (block, limit) in [("main", json!({"max_turns": 2})), ("session", json!({"max_cost_usd": 0.02}))] {
        let limit = with(limit, &json!({"timeout_action": "request_increase"}));
        let mut fixture = begin(&json!({block: limit}));
        assert!((0..9).any(|_| !fixture.step(Actor::Main)));
        for asked in ["fusebox explain", "fusebox explain p1-0000"] {
            let told = shell(&fixture, asked);
            assert!(told.contains("\nNext\n") && told.contains("answer Yes or No in the client"), "{asked}: {told}");
            assert!(told.contains("\nLimits") && told.contains("[##"), "{asked}: {told}");
        }
    }
}

/// Of a blocked prompt `explain` does not say that it may have been something else, and a next step stands for as long as a session is
/// called blocked.
#[test]
fn a_blocked_prompt_is_called_that_and_has_a_next_step() {
    for limit in [json!({"max_cost_usd": 0.02}), json!({"max_tokens": 4000})] {
        for changes in [&[][..], &["fusebox off s-0000", "fusebox on s-0000"]] {
            let limit = with(limit.clone(), &json!({"timeout_action": "request_increase"}));
            let mut fixture = begin(&json!({"session": limit}));
            let is_blocked = |_| {
                fixture.responds(Actor::Main);
                fixture.stops();
                !fixture.prompt()
            };
            assert!((0..9).any(is_blocked));
            let told = shell(&fixture, "COLUMNS=300 fusebox explain");
            assert!(told.contains("a prompt was blocked") && !told.contains("was not prolonged"), "{told}");
            fixture.leaves();
            let changed: String = changes.iter().map(|command| shell(&fixture, command)).collect();
            let status = shell(&fixture, "COLUMNS=300 fusebox status s-0000");
            let is_blocked = status.starts_with("session s-0000  blocked");
            let has_next = status.contains("fusebox grant ") || status.contains("claude --resume");
            assert!(!is_blocked || has_next, "{changed}: {status}");
        }
    }
}
