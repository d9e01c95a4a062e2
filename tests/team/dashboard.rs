//! The dashboard for Grafana: a real PostgreSQL answers each of its queries.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;

/// Returns the queries of the dashboard with their panels' titles, as Grafana sends them for a team over all time.
fn queries() -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/grafana-team.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let panels = list(&dashboard["panels"]);
    let of_panel = |panel: &Value| -> Vec<(String, String)> {
        list(&panel["targets"]).iter().map(|target| (word(&panel["title"]), word(&target["rawSql"]))).collect()
    };
    let variables = list(&dashboard["templating"]["list"]);
    let of_variables = variables.iter().map(|variable| (word(&variable["name"]), word(&variable["query"])));
    panels.iter().flat_map(of_panel).chain(of_variables).map(|(title, query)| (title, filled_in(&query))).collect()
}

/// Replaces the dashboard's variable, and Grafana's filter of time.
fn filled_in(query: &str) -> String {
    let mut query = query.replace("$team", "core");
    while let Some((before, rest)) = query.split_once("$__timeFilter(") {
        let (column, after) = rest.split_once(')').unwrap();
        query = format!("{before}{column} BETWEEN '2000-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z'{after}");
    }
    assert!(!query.contains('$'), "{query}");
    query
}

/// A team in which something of each kind has happened, and a login that reads all of it and changes nothing.
fn lively() -> Option<Postgres> {
    let server = Postgres::start()?;
    server.as_login("boss", "CREATE ROLE grafana LOGIN IN ROLE fusebox_member").unwrap();
    let caps = format!(
        "SELECT fusebox.set_member('core', 'grafana', 'admin'); SELECT fusebox.set_cap('core', 'team', '', 'month', {});
        SELECT fusebox.set_cap('core', 'user', '', 'day', {}); SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {});
        SELECT fusebox.set_label_cap('core', 'project', 'app', 'week', {});",
        100 * USD,
        40 * USD,
        50 * USD,
        20 * USD
    );
    server.as_login("ann", &caps).unwrap();
    for (login, usd) in [("bob", 5), ("eve", 2)] {
        let charges =
            format!(r#"[{{"message": "{login}", "cost_pico_usd": {}, "project": "app", "model": "opus"}}]"#, usd * USD);
        let settle = format!("SELECT * FROM fusebox.settle('core', 'machine-{login}', 0, 1, '{charges}', false)");
        server.as_login(login, &settle).unwrap();
        server.as_login(login, &format!("SELECT * FROM fusebox.lease('core', 'machine-{login}', 1, {USD})")).unwrap();
    }
    server
        .as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp() WHERE login = 'eve' AND number = 1")
        .unwrap();
    Some(server)
}

#[test]
fn every_query_of_the_dashboard_is_answered() {
    let Some(server) = lively() else { return };
    let answers: Vec<(String, String)> =
        queries().into_iter().map(|(title, query)| (title, server.as_login("grafana", &query).unwrap())).collect();
    let answer = |title: &str| answers.iter().find(|(of, _)| of == title).map(|(_, rows)| rows.as_str()).unwrap();
    assert!(answers.len() >= 12 && answers.iter().all(|(_, rows)| !rows.is_empty()), "{answers:#?}");
    assert_eq!(answer("Team's caps"), "month|7.0");
    assert_eq!(answer("Machines"), "2");
    assert_eq!(answer("team"), "core");
    let dollars = |rows: &str| rows.split(['|', '\n']).filter_map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
    assert_eq!(dollars(answer("Spent, and leased besides")), [7.0, 2.0, 91.0]);
    assert_eq!(dollars(answer("Expired leases")), [1.0]);
    assert_eq!(dollars(answer("Projects")), [20.0, 7.0]);
    // By how much of the cap is spent: bob 5 of 50, eve 2 of 40.
    let users: Vec<&str> = answer("Users").lines().map(|row| row.split('|').next().unwrap()).collect();
    assert_eq!(users, ["bob", "eve", "ann", "grafana"]);
    assert_eq!(answer("Cost by user").lines().count(), 2);
    assert!(answer("Changes").contains("|cap|project app week|"), "{}", answer("Changes"));
    assert_eq!(answer("Open leases").lines().count(), 2);
}

#[test]
fn the_dashboards_login_changes_nothing_and_a_member_sees_their_own() {
    let Some(server) = lively() else { return };
    for statement in [
        "SELECT fusebox.set_cap('core', 'team', '', 'month', NULL)",
        "SELECT fusebox.grant_more('core', '', NULL, 5)",
        "SELECT fusebox.write_off('core', 'machine-eve', 1)",
        "DELETE FROM fusebox.audit",
        "UPDATE fusebox.cap_use SET cap_pico_usd = 5",
        "DELETE FROM fusebox.change",
    ] {
        assert!(server.as_login("grafana", statement).is_err(), "{statement}");
    }
    let seen = |login: &str| {
        let of = |what: &str| server.as_login(login, &format!("SELECT count(*) FROM fusebox.{what}")).unwrap();
        ["cap_use WHERE scope = 'user'", "open_lease", "machine_seen", "spend", "cap_use WHERE scope = 'project'"]
            .map(of)
    };
    assert_eq!(seen("grafana"), ["4", "2", "2", "2", "1"]);
    assert_eq!(seen("eve"), ["1", "1", "1", "1", "1"]);
    assert_eq!(seen("zoe"), ["0", "0", "0", "0", "0"]);
}
