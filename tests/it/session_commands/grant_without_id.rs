//! `fusebox grant` without an id: it takes what still waits for that limit, or names what may be meant.

use fusebox::domain::session::{Session, Status};
use insta::assert_snapshot;
use serde_json::json;

use crate::session_commands::SHOP;
use crate::session_commands::fixture::Actor;
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::state::{load, save, session, with_shop};
use crate::world::TestWorld;

/// The shop, whose client is gone: its agents have nobody any more that they could go on for.
fn left_shop() -> TestWorld {
    let world = with_shop();
    save(&world, |store| {
        let shop = *store.session(SHOP).unwrap().unwrap();
        store.save_session(&Session { status: Status::Completed, is_over: true, ..shop }).unwrap();
        for project in ["/srv/api", "/srv/web"] {
            let id = format!("77aa01{}-0000", &project[5..]);
            store.save_session(&Session { project: project.to_owned(), ..session(&id) }).unwrap();
        }
    });
    world
}

fn cap(world: &TestWorld, run: &str, limit: &str) -> u64 {
    let run = load(world, SHOP).1.into_iter().find(|known| known.id == run).unwrap();
    run.limits.named(limit).unwrap().cap
}

#[test]
fn an_agent_whose_session_is_over_is_given_nothing_unasked() {
    let world = left_shop();
    for more in ["max_turns=+5", "max_cost_usd=+30"] {
        let limit = more.split('=').next().unwrap();
        let before = cap(&world, "a3fa11ed00", limit);
        let said = world.run(&["grant", more]);
        assert_eq!((said.code, cap(&world, "a3fa11ed00", limit)), (2, before), "{said}");
        assert!(!said.stderr.contains("a3fa11ed") && said.stderr.contains("session 77aa01ap"), "{said}");
    }
    // Who names it means it.
    let said = world.run(&["grant", "a3fa11ed", "max_turns=+5"]).ok();
    assert!(said.contains("max_turns of developer a3fa11ed: 25 -> 30"), "{said}");
}

#[test]
fn a_limit_that_has_stopped_nothing_is_raised_of_nothing_unasked() {
    let world = with_shop();
    let before = cap(&world, "a3fa11ed00", "max_cost_usd");
    assert_snapshot!(world.run(&["grant", "max_cost_usd=+30"]), @r"
    [stderr]
    error: nothing waits for more of max_cost_usd, and no run or session is named
      hint: name one of these:
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
        session 5f0c1d2e  running
    [exit 2]
    ");
    assert_eq!(cap(&world, "a3fa11ed00", "max_cost_usd"), before);
    assert_snapshot!(world.run(&["grant", "a3fa11ed", "max_requests=+5"]), @r"
    [stderr]
    error: developer a3fa11ed has no max_requests: there is nothing to raise
      hint: developer a3fa11ed has max_turns (now 25), max_cost_usd (now 1.00 USD)
    [exit 1]
    ");
    // Of several limits one is enough.
    let said = world.run(&["grant", "max_cost_usd=+1", "max_turns=+5"]).ok();
    assert!(said.starts_with("trip #2 (max_turns) in /srv/shop is the last that stands"), "{said}");
}

#[test]
fn a_session_that_was_just_granted_waits_for_nothing() {
    let mut fixture =
        begin(&json!({"session": {"max_cost_usd": 0.03, "grace_turns": 0, "timeout_action": "terminate"}}));
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    fixture.stops();
    let said = shell(&fixture, "fusebox grant max_cost_usd=+5");
    assert!(
        said.contains("is the last that stands in this project") && said.contains("0.0300 USD -> 5.03 USD"),
        "{said}"
    );
    // It is the only one that is open.
    let said = shell(&fixture, "fusebox grant max_cost_usd=+1");
    assert!(said.starts_with("session s-0000 is the only one that is open"), "{said}");
}

#[test]
fn a_session_whose_prompt_was_blocked_waits_for_budget_also_after_its_client_is_gone() {
    let mut fixture = begin(&json!({"session": {"max_cost_usd": 0.08, "timeout_action": "request_increase"}}));
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing was asked");
    fixture.stops();
    assert!(!fixture.prompt());
    fixture.leaves();
    let said = shell(&fixture, "fusebox grant max_turns=+5");
    assert!(said.contains("nothing waits for more of max_turns") && said.contains("session s-0000"), "{said}");
    let said = shell(&fixture, "fusebox grant max_cost_usd=+5");
    assert!(said.starts_with("a blocked prompt of session s-0000 (max_cost_usd) is the last that stands"), "{said}");
    assert!(said.contains("max_cost_usd of session s-0000") && said.ends_with("[exit 0]"), "{said}");
    assert!(fixture.goes_on(Actor::Main));
}
