//! A question that is on the screen while a person stops the agent: a Yes to it grants nothing any more.

use serde_json::Value;

use crate::dialogs::{Fixture, Who, Written, limits};

fn cap(fixture: &Fixture) -> Value {
    let status: Value = serde_json::from_str(&fixture.world.run(&["status", "--all", "--json"]).ok()).unwrap();
    let kind = if fixture.who == Who::Main { "main" } else { "worker" };
    let runs = status["sessions"][0]["runs"].as_array().unwrap();
    let run = runs.iter().find(|run| run["agent_type"] == kind).unwrap();
    let limits = run["limits"].as_array().unwrap();
    limits.iter().find(|limit| limit["limit"] == "max_turns").unwrap()["cap"].clone()
}

#[test]
fn a_yes_to_the_question_of_a_stopped_agent_grants_nothing() {
    for who in [Who::Main, Who::Worker] {
        for target in ["s1", if who == Who::Main { "main" } else { "a1" }] {
            let fixture = Fixture::new(who, &limits());
            fixture.requests("t1");
            fixture.ends("t1", None);
            fixture.batch("t1");
            assert!(fixture.requests("t2").contains(r#""ask""#));
            let said = fixture.world.run(&["stop", target]).ok();
            assert!(said.contains("is withdrawn: a Yes there grants nothing"), "{who:?} {target}: {said}");
            fixture.ends("t2", None);
            fixture.writes(Written::Source("user_temporary"), "t2");
            let over = fixture.batch("t2");
            assert_eq!(cap(&fixture), 1, "{who:?} {target}: {over}");
            let log = fixture.logged();
            assert!(log.contains("INCREASE_WITHDRAWN") && !log.contains("LIMIT_GRANTED"), "{who:?} {target}: {log}");
            let status = fixture.world.run(&["status", "--all"]).ok();
            assert!(status.contains("withdrawn by a stop") && !status.contains(": No"), "{who:?} {target}: {status}");
            // It goes on once a person says so: it asks again, or what lifts the stop has raised its cap.
            let _resumed = fixture.world.run(&["resume", target]).ok();
            let again = fixture.requests("t3");
            assert!(!again.contains(r#""deny""#), "{who:?} {target}: {again}");
        }
    }
}

#[test]
fn where_nothing_is_asked_a_stop_says_nothing_of_it() {
    let fixture = Fixture::new(Who::Main, &limits());
    let said = fixture.world.run(&["stop", "s1"]).ok();
    assert!(!said.contains("withdrawn"), "{said}");
}

#[test]
fn a_grant_says_that_the_question_still_holds_its_call() {
    let fixture = Fixture::new(Who::Main, &limits());
    fixture.requests("t1");
    fixture.ends("t1", None);
    fixture.batch("t1");
    assert!(!fixture.world.run(&["grant", "s1", "max_denials=+1"]).to_string().contains("on the client's screen"));
    assert!(fixture.requests("t2").contains(r#""ask""#));
    let said = fixture.world.run(&["grant", "main", "max_turns=+3"]).ok();
    assert!(said.contains("still on the client's screen, and holds its call until it is answered there"), "{said}");
}
