//! A member who settles less than was spent is seen: by what the clients say, and by what other machines tell.

use fusebox::domain::plan_window::PlanWindows;
use fusebox::domain::spend::amount::Amount;
use fusebox::store::Store;
use fusebox::upkeep::client_figures;
use serde_json::Value;

use crate::caps::{RESPONSE, cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;

/// Takes in what a client tells its status line: what its session has cost.
fn tells(machine: &Machine, session: &str, usd: f64) {
    let store = Store::open_for(&machine.state(), Some(session)).unwrap();
    let known = store.session(session).unwrap().unwrap();
    client_figures::take(&store, known, Some(Amount::from_usd(usd)), &PlanWindows::default()).unwrap();
}

fn audit(admin: &Machine) -> Value {
    serde_json::from_str(&admin.good(&["report", "--audit", "--json"])).unwrap()
}

/// Returns each user who is listed, with the reasons and what is missing in hundredths of a dollar.
fn listed(audit: &Value) -> Vec<(String, Vec<String>, u64)> {
    let users = audit["users"].as_array().unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let reasons = |user: &Value| user["reasons"].as_array().unwrap().iter().map(word).collect();
    let cents = |user: &Value| (word(&user["missing_usd"]).parse::<f64>().unwrap() * 100.0).round() as u64;
    users.iter().map(|user| (word(&user["login"]), reasons(user), cents(user))).collect()
}

#[test]
fn who_settles_less_than_the_client_says_is_listed_and_who_settles_all_is_not() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let ann = joined(&server, "ann", "");
    let machines = ["bob", "eve"].map(|login| joined(&server, login, ""));
    for (machine, id) in machines.iter().zip(["s1", "s2"]) {
        let client = Client::start(machine, id);
        assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None));
        // Bob's client has asked for more than its transcript shows by the time that it is told of.
        tells(machine, id, if id == "s1" { 3.0 } else { 2.0 * RESPONSE });
        machine.good(&["sync"]);
        machine.good(&["sync"]);
    }
    let found = audit(&ann);
    assert_eq!(listed(&found), [("bob".to_owned(), vec!["client_total".to_owned()], 299)]);
    assert_eq!((&found["users"][0]["client_total_usd"], &found["version"]), (&"3.000000000000".into(), &1.into()));
    assert_eq!(found["without_client_total"], serde_json::json!([]));
    let text = ann.good(&["report", "--audit"]);
    assert!(text.contains("bob") && text.contains("its clients say 3.00 USD") && !text.contains("eve"), "{text}");
    assert!(text.contains("1 of 2 users settled less than was shown in 30 days, beyond 5 % and 0.10 USD"), "{text}");
    // A member is not told of others.
    assert!(machines[1].bad(&["report", "--audit"]).contains("eve is no admin of a team core"));
    // What is settled late is missing no more.
    let charge = format!(r#"[{{"message": "late", "cost_pico_usd": {}}}]"#, 3 * USD);
    let id = server.as_login("ann", "SELECT id FROM fusebox.machine WHERE login = 'bob'").unwrap();
    let sequence =
        format!("SELECT coalesce(max(sequence), 0) + 1 FROM fusebox.lease WHERE machine = '{id}' AND number = 0");
    let batch = server.as_login("ann", &sequence).unwrap();
    let settle = format!("SELECT * FROM fusebox.settle('core', '{id}', 0, {batch}, '{charge}', false)");
    server.as_login("bob", &settle).unwrap();
    assert_eq!(listed(&audit(&ann)), []);
}

#[test]
fn who_tells_less_of_a_response_than_another_machine_is_listed_until_it_tells_as_much() {
    let Some(server) = Postgres::start() else { return };
    let ann = joined(&server, "ann", "");
    let (bob, eve) = (joined(&server, "bob", ""), joined(&server, "eve", ""));
    eve.spend("msg_1", 1);
    eve.spend("msg_2", 2);
    eve.good(&["sync"]);
    bob.spend("msg_1", 4);
    bob.spend("msg_3", 1);
    bob.good(&["sync"]);
    let found = audit(&ann);
    assert_eq!(listed(&found), [("eve".to_owned(), vec!["other_machines".to_owned()], 300)]);
    assert_eq!(found["without_client_total"], serde_json::json!(["bob", "eve"]));
    let text = ann.good(&["report", "--audit", "--days", "1"]);
    assert!(text.contains("other machines tell 3.00 USD more"), "{text}");
    assert!(text.contains("no client's total is known of bob, eve"), "{text}");
    assert_eq!(
        listed(&serde_json::from_str(&ann.good(&["report", "--audit", "--json", "--tolerance", "50"])).unwrap()),
        []
    );
    // As much as it is known to be adds nothing to what is spent, and nothing is missing any more.
    let spent = "SELECT sum(cost_pico_usd) / 1000000000000 = 7 FROM fusebox.charge";
    assert_eq!(server.as_login("ann", spent).unwrap(), "t");
    eve.spend("msg_1", 4);
    eve.good(&["sync"]);
    assert_eq!(listed(&audit(&ann)), []);
    assert_eq!(server.as_login("ann", spent).unwrap(), "t");
}

#[test]
fn a_total_never_shrinks_and_is_of_days_that_can_be() {
    let Some(server) = Postgres::start() else { return };
    let sync = |login: &str, machine: &str, totals: &str| {
        server.as_login(login, &format!("SELECT FROM fusebox.sync('core', '{machine}', '[]', '[]', '[{totals}]')"))
    };
    let total = |day: &str, amount: u64| {
        let day =
            server.as_login("ann", &format!("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date {day}")).unwrap();
        format!(r#"{{"day": "{day}", "total_pico_usd": {amount}}}"#)
    };
    for amount in [5, 9, 3] {
        sync("bob", "machine-1", &total("", amount)).unwrap();
    }
    for day in ["- 300", "+ 30"] {
        sync("bob", "machine-1", &total(day, 7)).unwrap();
    }
    let known = "SELECT login, total_pico_usd FROM fusebox.client_total";
    assert_eq!(server.as_login("bob", known).unwrap(), "bob|9");
    assert_eq!(server.as_login("eve", known).unwrap(), "");
    // Nobody tells totals of another's machine, or more than a number holds.
    assert!(sync("eve", "machine-1", &total("", 99)).unwrap_err().contains("machine machine-1 is not of eve"));
    assert!(sync("bob", "machine-1", &total("", 2_000_000 * USD)).is_err());
    assert!(sync("bob", "machine-1", &vec![total("", 1); 101].join(",")).unwrap_err().contains("100 days at most"));
}
