//! What a stopped agent's person reads: whose cap it was, with its figures and who raises it; or that the store is not heard.

use serde_json::Value;

use crate::caps::{cap, joined, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;
use crate::rejoin::{join, set_password, with_passwords};

/// Works until the agent is stopped; returns what its person reads.
fn work(client: &Client) -> String {
    assert_eq!(client.prompt(), None);
    (0..60).find_map(|_| client.turn()).unwrap()
}

#[test]
fn an_own_cap_is_told_as_such_and_no_report_shows_a_cap_that_nobody_set() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', '#budget', NULL, NULL, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 60000000000)").unwrap();
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    let answer = work(&client);
    assert!(answer.contains("bob's cap of the day in team core ") && answer.contains("/0.0600 USD"), "{answer}");
    assert!(answer.contains("ask #budget: `fusebox team grant bob +0.03 --period day`"), "{answer}");
    let told = answer.split("\"stopReason\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(told.chars().count() <= 200, "two lines: {told}");
    let blocked = client.prompt().unwrap();
    assert!(blocked.contains("bob's cap of the day in team core "), "{blocked}");
    let caps = ["0.0600", "100.00", "25.00"];
    for command in [&["status"][..], &["explain"], &["log"], &["report", "--by", "session"], &["status", "--all"]] {
        let shown = machine.shown_in(".", command);
        // `0.0584/0.0600 USD`, and of nothing else.
        for of in shown.split('/').skip(1).filter_map(|rest| rest.split_once(" USD")).map(|(cap, _)| cap) {
            let is_figure = of.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            assert!(!is_figure || caps.contains(&of), "{command:?}: {of}: {shown}");
        }
    }
    let json: Value = serde_json::from_str(&machine.shown_in(".", &["status", "--json"])).unwrap();
    let budgets = json["budgets"].as_array().unwrap();
    let shown: Vec<_> = budgets.iter().map(|it| (it["id"].as_str().unwrap(), it["cap"].as_str().unwrap())).collect();
    assert_eq!(shown, [("core", "100.000000000000"), ("core, bob", "0.060000000000")]);
}

#[test]
fn a_login_that_was_removed_reads_that_and_not_that_a_budget_is_used_up() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann', 1000, 0, NULL)").unwrap();
    cap(&server, 100.0);
    let machine = joined(&server, "bob", r#""on_stale":"deny""#);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    server.as_login("ann", "SELECT fusebox.set_member('core', 'bob', NULL)").unwrap();
    let answer = work(&client);
    let says = "the store of team core refuses this machine: bob is no member of a team core";
    assert!(answer.contains(says) && !answer.contains("exhausted"), "{answer}");
    let blocked = client.prompt().unwrap();
    assert!(blocked.contains(says) && blocked.contains("Ask ann: `fusebox team invite bob`"), "{blocked}");
    let doctor = machine.shown_in(".", &["doctor"]);
    assert!(doctor.contains("refuses this machine"), "{doctor}");
    server.as_login("ann", "SELECT fusebox.set_member('core', 'bob', 'member')").unwrap();
    wait_until("work goes on", || client.prompt().is_none());
}

#[test]
fn without_any_cap_no_report_shows_one() {
    let Some(server) = Postgres::start() else { return };
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    let json: Value = serde_json::from_str(&machine.shown_in(".", &["status", "--json"])).unwrap();
    assert_eq!(json["budgets"], serde_json::json!([]));
    let shown = machine.shown_in(".", &["status"]);
    assert!(!shown.contains("team core") && !shown.contains("per_month"), "{shown}");
}

/// What the store does to a login, and what undoes it as the advice says.
const REFUSALS: [(&str, &str, &str); 4] = [
    ("ALTER ROLE bob PASSWORD 'new'", "`fusebox team join core` takes a new address", ""),
    ("ALTER ROLE bob NOLOGIN", "`ALTER ROLE bob LOGIN`", "ALTER ROLE bob LOGIN"),
    ("REVOKE fusebox_member FROM bob", "`GRANT fusebox_member TO bob`", "GRANT fusebox_member TO bob"),
    (
        "DELETE FROM fusebox.member WHERE login = 'bob'",
        "ann@core: `fusebox team invite bob`",
        "INSERT INTO fusebox.member (team, login, role) SELECT id, 'bob', 'member' FROM fusebox.team WHERE name = 'core'",
    ),
];

#[test]
fn who_is_refused_reads_the_one_step_that_helps_wherever_it_is_said() {
    let Some(server) = with_passwords() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', 1000, 0, NULL)").unwrap();
    let mut wrong = Vec::new();
    for (number, (refusal, helps, undone)) in REFUSALS.into_iter().enumerate() {
        set_password(&server, "bob", "bob");
        let machine = Machine::new(&server, "bob");
        join(&machine, &server, "bob", "bob");
        let policy = machine.home.path().join(".claude/fusebox.json");
        std::fs::write(&policy, r#"{"team":{"name":"core","on_stale":"deny"}}"#).unwrap();
        let id = format!("r{number}");
        let client = Client::start(&machine, &id);
        assert_eq!((client.prompt(), client.turn()), (None, None), "{refusal}");
        server.as_login("boss", refusal).unwrap();
        let sync = machine.bad(&["sync"]);
        let blocked = std::cell::RefCell::new(String::new());
        wait_until("the lease is over", || {
            blocked.replace(client.prompt().unwrap_or_default());
            !blocked.borrow().is_empty()
        });
        let doctor = machine.shown_in(".", &["doctor"]);
        let doctor = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [sync, blocked.into_inner(), doctor] {
            let others = REFUSALS.iter().map(|(_, other, _)| *other).filter(|other| *other != helps);
            let misleads = others.chain(["`fusebox team invite LOGIN`"]).any(|other| said.contains(other));
            if misleads || !said.contains(helps) {
                wrong.push(format!("{refusal}: {said}"));
            }
        }
        if undone.is_empty() {
            join(&machine, &server, "bob", "new");
        } else {
            server.as_login("boss", undone).unwrap();
        }
        wait_until("work goes on", || client.prompt().is_none());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
