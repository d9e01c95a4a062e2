//! `fusebox grant` from outside.

use fusebox::domain::action::Action;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Run, Session, Status};
use insta::assert_snapshot;

use crate::session_commands::fixture::Actor;
use crate::session_commands::off::{policies, stopped};
use crate::session_commands::{SHOP, log, standing, with_paused_session};
use crate::state::{at, developer, ended, load, main_run, save, session, trip, with_shop};
use crate::world::TestWorld;

#[test]
fn a_grant_raises_the_cap_and_lifts_what_it_had_ordered() {
    let world = with_shop();
    assert_snapshot!(world.run(&["grant", "a3fa", "max_tool_calls=+10"]), @r"
    max_turns of developer a3fa11ed: 25 -> 35 (25 used)
    max_cost_usd would stop it again at once (0.64 USD of 1.00 USD used): `fusebox grant a3fa11ed max_cost_usd=+1.00` gives more
    then developer a3fa11ed goes on when the main agent sends it a message
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running
    a1b2c3d4e5: running; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: completed; max_turns 35 grant, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal raised max_turns of developer a3fa11ed from 25 to 35.
    ");
    assert_snapshot!(log(&world), @r"
    AGENT_WARNING developer a3fa11ed max_turns 20/25 (80 %+), warn, project
    AGENT_FAILED developer a3fa11ed max_turns 25/25, terminate, project
    LIMIT_GRANTED developer a3fa11ed max_turns is 35 now, by somebody without a terminal (25 used)
    ");
}

#[test]
fn a_grant_of_another_limit_lifts_nothing() {
    let world = with_shop();
    assert_snapshot!(world.run(&["grant", "a3fa", "max_cost_usd=2.5", "max_turns=+0"]), @r"
    [stderr]
    error: `+0` is no amount of tool calls: write it like +10
      hint: `fusebox grant a3fa max_cost_usd=2.5 max_turns=+10`
    [exit 2]
    ");
    assert_snapshot!(world.run(&["grant", "a3fa", "max_cost_usd=2.5"]), @r"
    max_cost_usd of developer a3fa11ed: 1.00 USD -> 2.50 USD (0.64 USD used)
    developer a3fa11ed is held all the same (tool calls 25/25 (max_turns, project)): `fusebox resume a3fa11ed` lets it go on
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running
    a1b2c3d4e5: running; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 2.50 USD grant
    Fusebox: somebody without a terminal raised max_cost_usd of developer a3fa11ed from 1.00 USD to 2.50 USD.
    ");
}

#[test]
fn a_grant_without_a_limit_or_an_amount_shows_a_command_to_copy() {
    let world = with_shop();
    assert_snapshot!(world.run(&["grant", "a1"]), @r"
    [stderr]
    error: nothing is granted to developer a1b2c3d4
      hint: `fusebox grant a1b2c3d4 max_cost_usd=+1.00` is enough for its next step: developer a1b2c3d4 has max_turns (now 25), max_cost_usd (now 1.00 USD)
    [exit 2]
    ");
    assert_snapshot!(world.run(&["grant", "a1", "max_turns"]), @r"
    [stderr]
    error: `max_turns` has no amount
      hint: `fusebox grant a1 max_turns=+10`
    [exit 2]
    ");
}

#[test]
fn a_grant_that_cannot_be_given_changes_nothing() {
    let world = with_shop();
    let before = standing(&world, SHOP);
    assert_snapshot!(world.run(&["grant", "a1", "max_turns=+5", "max_requests=+5"]), @r"
    [stderr]
    error: developer a1b2c3d4 has no max_requests: there is nothing to raise
      hint: developer a1b2c3d4 has max_turns (now 25), max_cost_usd (now 1.00 USD)
    [exit 1]
    ");
    assert_snapshot!(world.run(&["grant", "a1", "max_turns=25"]), @r"
    [stderr]
    error: max_turns of developer a1b2c3d4 is 25 already: a grant only raises it
      hint: `max_turns=+N` adds N; configuration files set lower limits
    [exit 1]
    ");
    assert_snapshot!(world.run(&["grant", "a1", "max_turn=+5"]), @r"
    [stderr]
    error: no limit is called `max_turn`; the nearest is `max_turns`
      hint: `fusebox grant a1 max_turns=+5`
    [exit 2]
    ");
    assert_snapshot!(world.run(&["grant", "b7d1", "max_cost_usd=+5"]), @r"
    [stderr]
    error: main b7d1aaaa has no max_cost_usd: there is nothing to raise
      hint: its session has one: `fusebox grant 5f0c1d2e-0000 max_cost_usd=+N`
    [exit 1]
    ");
    assert_snapshot!(world.run(&["grant", "max_requests=+5"]), @r"
    [stderr]
    error: nothing waits for more of max_requests, and no run or session is named
      hint: name one of these:
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
        session 5f0c1d2e  running
    [exit 2]
    ");
    assert_snapshot!(world.run(&["grant", "a1", "a2", "max_turns=+5"]), @r"
    [stderr]
    error: `a2` is one id too many
      hint: `fusebox grant a1 max_turns=+5`
    [exit 2]
    ");
    let pasted = "a1 max_turns=+5 and fusebox grant user max_cost_usd_per_day=+5".split(' ');
    assert_snapshot!(world.run(&["grant"].into_iter().chain(pasted).collect::<Vec<_>>()), @r"
    [stderr]
    error: `and` is one id too many
      hint: `fusebox grant a1 max_turns=+5 && fusebox grant user max_cost_usd_per_day=+5`
    [exit 2]
    ");
    assert_snapshot!(world.run(&["grant", "--task", "8", "max_turns=+5"]), @r"
    [stderr]
    error: no run works on task `8`
      hint: name one of these:
        session 5f0c1d2e  running
        run a1b2c3d4  developer  running  session 5f0c1d2e
        run a3fa11ed  developer  ended by limit  session 5f0c1d2e
        run b7d1aaaa  main  running  session 5f0c1d2e
    [exit 1]
    ");
    assert_eq!(standing(&world, SHOP), before);
}

#[test]
fn a_grant_to_a_run_that_its_sessions_limit_holds_goes_to_the_session() {
    let world = with_paused_session();
    assert_snapshot!(world.run(&["grant", "d1", "max_cost_usd=+0.5"]), @r"
    max_cost_usd of session 5e55: 25.00 USD -> 25.50 USD (24.00 USD used)
    it is not enough: 24.00 USD is used, and the next step would be stopped again; `max_cost_usd=+12.50` is enough
    max_cost_usd would stop it again at once (0.42 USD of 1.00 USD used): `fusebox grant d1 max_cost_usd=+11.50` gives more
    [exit 0]
    ");
    assert_snapshot!(standing(&world, "5e55"), @r"
    session: running; max_cost_usd 25.50 USD grant
    p1: running, next prompt
    d1: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal raised max_cost_usd of session 5e55 from 25.00 USD to 25.50 USD.
    ");
}

#[test]
fn a_failed_main_run_goes_on_with_the_next_prompt_although_another_came_between() {
    let world = TestWorld::new();
    let finding = trip("max_turns", (200, 200), Action::Terminate, Scope::Run);
    let first =
        ended(Run { limits: developer("5e55", "x", "y").limits, ..main_run("5e55", "p1") }, &finding, Status::Failed);
    let second = Run { status: Status::Completed, started: at(500), ..main_run("5e55", "p2") };
    save(&world, |store| {
        store.save_session(&Session { main: Some(second.id.clone()), ..session("5e55") }).unwrap();
        store.save_run(&first).unwrap();
        store.save_run(&second).unwrap();
    });
    assert_snapshot!(world.run(&["grant", "p1", "max_turns=+200"]), @r"
    max_turns of main p1: 25 -> 225 (0 used)
    main p1 goes on with the next prompt
    [exit 0]
    ");
    assert_eq!(load(&world, "5e55").0.main.as_deref(), Some("p1"));
}

/// Without arguments it names more of the limit that has stopped the last, also of one over sessions.
#[test]
fn a_grant_of_nothing_names_what_gives_the_last_that_was_stopped_more() {
    for policy in policies() {
        let mut fixture = stopped(&policy);
        let (block, caps) = policy.as_object().unwrap().iter().next().unwrap();
        let key = caps.as_object().unwrap().keys().find(|key| key.starts_with("max_")).unwrap();
        let said = fixture.world.run(&["grant"]).stderr;
        let command = said.split("`fusebox ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        let whose = if block == "user" { "user" } else { words[1] };
        assert!(words[..2] == ["grant", whose] && words[2].starts_with(&format!("{key}=+")), "{policy}: {said}");
        let given = fixture.world.run(&words).ok();
        assert!(!given.contains("not enough"), "{policy}: {said}{given}");
        assert!(fixture.goes_on(Actor::Main), "{policy}: {said}{given}");
    }
}
