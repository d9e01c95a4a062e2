//! A turn that a person has left: no hook tells of that, and commands speak of the session as `status` does, which waits for a prompt.

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::state::load;

/// A session whose person has left a turn that had used all its calls.
fn left() -> Fixture {
    let mut fixture = begin(&json!({"main": {"max_turns": 3, "warn_at": []}, "session": {"max_cost_usd": 25}}));
    assert!((0..3).all(|_| fixture.step(Actor::Main)));
    let content = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let row = json!({"type": "user", "timestamp": "2999-01-01T00:00:00.000Z", "message": {"role": "user", "content": content}});
    let path = fixture.world.path("transcripts/s-0000.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{row}\n").as_bytes()).unwrap();
    fixture
}

#[test]
fn stop_and_resume_know_that_a_session_waits_for_a_prompt() {
    let mut fixture = left();
    let said = shell(&fixture, "fusebox stop --yes");
    assert!(said.contains("the only one that is open") && !said.contains("follow"), "{said}");
    let said = shell(&fixture, "fusebox resume s-0000");
    assert!(said.contains("goes on with its next prompt") && !said.contains("stop it again"), "{said}");
    assert!(fixture.prompt() && fixture.step(Actor::Main), "the next prompt has whole limits");
}

#[test]
fn on_says_what_its_limits_will_do() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.02, "timeout_action": "request_increase"}}));
    shell(&fixture, "fusebox off");
    assert!((0..3).all(|_| fixture.step(Actor::Main)));
    let said = shell(&fixture, "fusebox on");
    assert!(said.contains("leaves too little for the next request") && !said.contains("you are asked"), "{said}");
    shell(&fixture, "fusebox off");
    assert!(fixture.step(Actor::Main));
    let said = shell(&fixture, "fusebox on");
    assert!(said.contains("is used up by now") && said.contains("where nobody can answer"), "{said}");
}

/// Returns the limit that has ended the main agent.
fn acting(fixture: &Fixture) -> String {
    let (session, runs) = load(&fixture.world, "s-0000");
    let orders = session.order.iter().chain(runs.iter().filter_map(|run| run.order.as_ref()));
    orders.map(|order| order.finding.source.to_string()).next().unwrap()
}

/// Limits over sessions are named, too, and the one that acts first before the others.
#[test]
fn on_names_every_limit_that_would_act_the_first_of_them_first() {
    let all = [
        ("main", "max_turns", json!(3)),
        ("session", "max_cost_usd", json!(0.02)),
        ("user", "max_cost_usd_per_day", json!(0.02)),
        ("project", "max_cost_usd_per_month", json!(0.02)),
    ];
    let (ends, asks) = ("terminate", "request_increase");
    for (one, other) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
        for actions in [[ends, asks], [asks, ends], [ends, ends]] {
            let mut policy = json!({});
            for (at, action) in [one, other].into_iter().zip(actions) {
                let (block, key, cap) = &all[at];
                policy[*block] = json!({*key: cap, "timeout_action": action});
                if at < 2 {
                    policy[*block]["grace_turns"] = json!(0);
                }
            }
            let mut fixture = begin(&policy);
            shell(&fixture, "fusebox off");
            assert!((0..5).all(|_| fixture.step(Actor::Main)));
            let said = shell(&fixture, "fusebox on");
            let foretold: Vec<&str> = said.lines().filter(|line| line.contains("its next step")).collect();
            let names = |line: &str, at: usize| line.starts_with(&format!("{} of ", all[at].1));
            assert!([one, other].iter().all(|at| foretold.iter().any(|line| names(line, *at))), "{policy}: {said}");
            assert!((0..2).any(|_| !fixture.step(Actor::Main)), "{policy}: {said}");
            // What asks ends no work: a Yes lets the call run.
            fixture.says_yes(Actor::Main);
            let acting = acting(&fixture);
            assert!(foretold[0].starts_with(&format!("{acting} of ")), "{policy}: {acting}: {said}");
        }
    }
}
