//! What is said of a team's caps before anything is leased, while a store is silent, and where little is left: each figure with what it is.

use std::fs;

use serde_json::Value;

use crate::caps::{cap, joined, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// A lead joins, and begins to work once the store is down.
#[test]
fn who_has_no_lease_yet_reads_that_and_since_when_the_store_is_not_reached() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "ann", "");
    machine.good(&["limits"]);
    server.crash();
    let client = Client::start(&machine, "s1");
    let says = "this machine holds no lease of team core yet, and its store is not reached since 20";
    wait_until(says, || client.prompt().is_some_and(|answer| answer.contains(says)));
    for shown in [client.prompt().unwrap(), machine.shown_in(".", &["status"]), machine.shown_in(".", &["doctor"])] {
        assert!(!shown.contains("never heard"), "{shown}");
    }
    assert!(client.prompt().unwrap().contains("`on_stale` is `warn`, which needs a lease"));
    server.go_on();
    wait_until("work begins", || client.prompt().is_none());
}

#[test]
fn every_cap_says_what_its_store_has_heard_and_what_this_machine_has_spent_since() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    server
        .as_login("ann", "SELECT fusebox.set_label_cap('core', 'project', 'git.example/app', 'month', 50000000000000)")
        .unwrap();
    let machine = joined(&server, "bob", "");
    let git = machine.home.path().join("app/.git");
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("config"), "[remote \"origin\"]\n\turl = https://git.example/app\n").unwrap();
    let client = Client::start_in(&machine, "s1", "app");
    assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None));
    machine.good(&["sync"]);
    let lines = || {
        let shown = machine.shown_in("app", &["status", "--all"]);
        let lines: Vec<String> = shown.lines().map(str::to_owned).collect();
        let after = |head: &str| {
            let at = lines.iter().position(|line| line.starts_with(head)).unwrap_or_else(|| panic!("{shown}"));
            let figures = lines[at + 1].split_whitespace().find(|word| word.contains("/")).unwrap_or_default();
            (lines[at].clone(), figures.split('/').next().unwrap_or_default().to_owned())
        };
        [after("team core, as"), after("team core, project")]
    };
    for (head, _) in lines() {
        assert!(head.contains("as its store was heard at 20") && !head.contains("since"), "{head}");
    }
    server.crash();
    assert_eq!(client.turn(), None);
    machine.bad(&["sync"]);
    let [team, project] = lines();
    for (head, figure) in [&team, &project] {
        assert!(
            head.contains("as its store was heard at 20") && head.contains(", and 0.0058 USD of this machine since"),
            "{head}"
        );
        assert_eq!(*figure, team.1, "{head}");
    }
    server.go_on();
}

/// What is used under each cap of the team, in dollars, and what a session has cost, as programs read them.
fn in_status(machine: &Machine<'_>) -> (Vec<(String, f64)>, f64) {
    let shown = machine.shown_in("app", &["status", "--json", "--all"]);
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
    let usd = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{shown}")).parse::<f64>().unwrap();
    let budgets = shown["budgets"].as_array().unwrap().iter();
    let used = budgets.map(|budget| (budget["id"].as_str().unwrap().to_owned(), usd(&budget["used"])));
    (used.collect(), shown["sessions"].as_array().unwrap().iter().map(|it| usd(&it["cost_usd"])).sum())
}

#[test]
fn every_cap_counts_what_this_machine_has_spent_whether_it_is_told_or_not() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    for (scope, label) in [("project", "git.example/app"), ("user", "bob")] {
        let set = format!("SELECT fusebox.set_label_cap('core', '{scope}', '{label}', 'month', 50000000000000)");
        let set = if scope == "user" { set.replace("label_cap", "cap") } else { set };
        server.as_login("ann", &set).unwrap();
    }
    let machine = joined(&server, "bob", "");
    let git = machine.home.path().join("app/.git");
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("config"), "[remote \"origin\"]\n\turl = https://git.example/app\n").unwrap();
    let client = Client::start_in(&machine, "s1", "app");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    server.crash();
    for step in ["a call", "another", "a report"] {
        match step {
            "a report" => {
                let path = machine.home.path().join("s1.jsonl");
                let rows = fs::read_to_string(&path).unwrap();
                fs::write(&path, rows + &client.next_turn().0).unwrap();
                client.event("Stop", r#""stop_hook_active":false"#);
            }
            _ => assert_eq!(client.turn(), None),
        }
        let (used, cost) = in_status(&machine);
        assert_eq!(used.len(), 3, "{used:?}");
        for (id, used) in used {
            assert!((used - cost).abs() < 1e-9, "{step}: {id}: {used} of {cost}");
        }
    }
    server.go_on();
}

#[test]
fn too_little_is_said_with_what_there_is_too_little_for_and_once() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 1000000000000)").unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    client.output.set(6_000);
    assert_eq!(client.prompt(), None);
    let stopped = (0..60).find_map(|_| client.turn()).unwrap();
    let blocked = client.prompt().unwrap();
    for answer in [&stopped, &blocked] {
        let (_, figures) =
            answer.split_once("bob's cap of the day in team core is at ").unwrap_or_else(|| panic!("{answer}"));
        let (spent, rest) = figures.split_once("/1.00 USD + ").unwrap_or_else(|| panic!("{answer}"));
        let (more, _) = rest.split_once(" to come").unwrap_or_else(|| panic!("{answer}"));
        let [spent, more] = [spent, more].map(|text| text.parse::<f64>().unwrap());
        assert!(spent < 1.0 && spent + more > 1.0, "{answer}");
    }
    for command in [&["status"][..], &["explain", "s1"], &["report"]] {
        let shown = machine.shown_in(".", command).split_whitespace().collect::<Vec<_>>().join(" ");
        for once in ["ask ann@core", "`fusebox team grant bob +0.50 --period day`"] {
            assert_eq!(shown.matches(once).count(), 1, "{command:?}: {shown}");
        }
    }
    let status = machine.good(&["status"]);
    assert!(
        status.contains("you are blocked: bob's cap of the day in team core is at ")
            && status.contains(" leased; it resets"),
        "{status}"
    );
    let report = machine.shown_in(".", &["report"]);
    let row = report.lines().find(|line| line.starts_with("#2 ")).unwrap_or_default();
    assert!(row.contains("of the team") && !row.contains("max_cost_usd"), "{report}");
    // USED has the figures that the blocked prompt told.
    let used = blocked.split(" is at ").nth(1).unwrap().split(" + ").next().unwrap();
    assert!(row.contains(&format!("  {used}  ")), "{used}: {report}");
    // Who has left is told of no caps.
    let helps = "What others of the team spend counts too";
    let explain = || machine.shown_in(".", &["explain", "1"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let explained = explain();
    assert!(explained.contains(helps), "{explained}");
    machine.good(&["leave"]);
    let explained = explain();
    assert!(!explained.contains(helps) && explained.contains("takes no part in that team any more"), "{explained}");
}
