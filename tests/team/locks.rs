//! Machines of one team do not wait for each other, where the store need not have them do so.

use std::thread;

use fusebox::store::team::address::Address;
use fusebox::store::team::connection::{Connection, Row};

use crate::postgres::Postgres;

/// Machines whose settlements go to different parts of the sums.
const MACHINES: [&str; 2] = ["machine-1", "machine-2"];

fn connect(server: &Postgres, login: &str) -> Connection {
    let address = format!("postgres://{login}@/postgres?host={}", server.folder().display());
    Connection::open(&Address::parse(&address).unwrap()).unwrap()
}

fn ask(connection: &mut Connection, call: &str) -> Vec<Row> {
    connection.query(&format!("SELECT * FROM fusebox.{call}"), &[]).unwrap()
}

fn lease(machine: &str, number: u64) -> String {
    format!("lease('core', '{machine}', {number}, 10)")
}

fn settle(machine: &str, message: &str, cost: u64) -> String {
    let charges = format!(r#"[{{"message": "{message}", "cost_pico_usd": {cost}, "project": "app"}}]"#);
    format!("settle('core', '{machine}', 0, 1, '{charges}', false)")
}

/// Returns what the team has spent, what it has spent or leased, and what is spent of the project.
fn sums(server: &Postgres) -> String {
    let sums = "SELECT sum(spent_pico_usd), sum(committed_pico_usd), (SELECT coalesce(sum(p.spent_pico_usd), 0)
        FROM fusebox.project_used p WHERE p.period = 'week') FROM fusebox.used WHERE login = '' AND period = 'week'";
    server.as_login("ann", sums).unwrap()
}

#[test]
fn a_settlement_waits_neither_for_a_lease_nor_for_another_machine() {
    for (under_way, expected) in [(lease(MACHINES[0], 1), "3|13|3"), (settle(MACHINES[0], "n", 4), "7|7|7")] {
        let Some(server) = Postgres::start() else { return };
        server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'week', 1000)").unwrap();
        let (mut bob, mut eve) = (connect(&server, "bob"), connect(&server, "eve"));
        bob.run("BEGIN").unwrap();
        ask(&mut bob, &under_way);
        // Where it waited it would fail.
        eve.run("SET lock_timeout = '2s'").unwrap();
        ask(&mut eve, &settle(MACHINES[1], "m", 3));
        bob.run("COMMIT").unwrap();
        assert_eq!(sums(&server), expected, "{under_way}");
    }
}

#[test]
fn where_nothing_is_left_nobody_waits_to_hear_it() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'week', 10)").unwrap();
    let (mut bob, mut eve) = (connect(&server, "bob"), connect(&server, "eve"));
    ask(&mut bob, &lease(MACHINES[0], 1));
    bob.run("BEGIN").unwrap();
    ask(&mut bob, &lease(MACHINES[0], 2));
    eve.run("SET lock_timeout = '2s'").unwrap();
    assert_eq!(ask(&mut eve, &lease(MACHINES[1], 1))[0][1].as_deref(), Some("refused"));
}

#[test]
fn a_response_that_two_machines_tell_at_once_is_charged_once_with_its_highest_cost() {
    for (first, second) in [(4, 5), (5, 4), (5, 5)] {
        let Some(server) = Postgres::start() else { return };
        let mut bob = connect(&server, "bob");
        bob.run("BEGIN").unwrap();
        ask(&mut bob, &settle(MACHINES[0], "m", first));
        thread::scope(|scope| {
            scope.spawn(|| ask(&mut connect(&server, "eve"), &settle(MACHINES[1], "m", second)));
            server.wait_for_lock("eve");
            bob.run("COMMIT").unwrap();
        });
        assert_eq!(sums(&server), "5|5|5", "{first} {second}");
    }
}

#[test]
fn a_sync_settles_one_batch_leases_last_and_answers_in_the_order_of_the_requests() {
    let Some(server) = Postgres::start() else { return };
    let mut bob = connect(&server, "bob");
    let batch = |number: u64| format!(r#"{{"asks": "settle", "number": {number}, "batch": 1, "closes": true}}"#);
    let lease = |number: u64| format!(r#"{{"asks": "lease", "number": {number}, "want": 10}}"#);
    let renew = |number: u64| format!(r#"{{"asks": "renew", "number": {number}}}"#);
    let sync = |requests: &[String]| {
        format!("SELECT replies FROM fusebox.sync('core', 'machine-1', '[{}]', '[]', '[]')", requests.join(","))
    };
    let mut replies = |requests: &[String]| -> serde_json::Value {
        serde_json::from_str(bob.query(&sync(requests), &[]).unwrap()[0][0].as_deref().unwrap()).unwrap()
    };
    assert_eq!(replies(&[lease(1)])[0]["answer"], "reserved");
    let told = replies(&[batch(0), renew(1), lease(2)]);
    let answers: Vec<&str> = (0..3).map(|at| told[at]["answer"].as_str().unwrap()).collect();
    assert_eq!(answers, ["settled", "usable", "reserved"]);
    assert_eq!(told[1]["amount_pico_usd"], 10);
    let wrongs = [
        vec![batch(0), batch(1)],
        vec![lease(3), renew(1)],
        vec![lease(3), batch(1)],
        vec![lease(3), lease(4)],
        vec![renew(1); 1001],
        vec![r#"{"asks": "more", "number": 1}"#.to_owned()],
    ];
    for wrong in wrongs {
        let refused = server.as_login("bob", &sync(&wrong)).unwrap_err();
        let words = ["settles one batch", "a lease is asked for last", "1000 requests at most", "asks for no more"];
        assert!(words.iter().any(|words| refused.contains(words)), "{refused}");
    }
    assert_eq!(replies(&vec![renew(1); 1000])[999]["answer"], "usable");
}

/// All that a machine asks for locks the machine first, and so does who gives up a lease of it.
#[test]
fn a_write_off_waits_for_a_machine_that_is_heard_and_never_that_for_it() {
    let Some(server) = Postgres::start() else { return };
    let mut bob = connect(&server, "bob");
    ask(&mut bob, &lease(MACHINES[0], 1));
    server.as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp()").unwrap();
    bob.run("BEGIN").unwrap();
    ask(&mut bob, &settle(MACHINES[0], "m", 3));
    thread::scope(|scope| {
        scope.spawn(|| ask(&mut connect(&server, "ann"), &format!("write_off('core', '{}', 1)", MACHINES[0])));
        server.wait_for_lock("ann");
        ask(&mut bob, &format!("settle('core', '{}', 1, 1, '[]', false)", MACHINES[0]));
        bob.run("COMMIT").unwrap();
    });
}

#[test]
fn a_machine_asks_in_no_transaction_that_sees_an_earlier_moment() {
    let Some(server) = Postgres::start() else { return };
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let call = format!("BEGIN ISOLATION LEVEL {level}; SELECT * FROM fusebox.{}", lease(MACHINES[0], 1));
        let refused = server.as_login("bob", &call).unwrap_err();
        assert!(refused.contains("read committed"), "{level}: {refused}");
    }
}

#[test]
fn sums_beyond_all_numbers_use_the_caps_up_and_fail_nobodys_requests() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'week', 10)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_label_cap('core', 'project', 'app', 'week', 10)").unwrap();
    let (mut bob, mut eve) = (connect(&server, "bob"), connect(&server, "eve"));
    // The dearest responses that the store takes: more than one sum has room for, and more than one part of it.
    for (machine, batches) in [(MACHINES[0], 2), (MACHINES[1], 1)] {
        for batch in 1..=batches {
            let charge = |number| {
                format!(
                    r#"{{"message": "{machine} {batch} {number}", "cost_pico_usd": 1000000000000000000, "project": "app"}}"#
                )
            };
            let charges = (0..5).map(charge).collect::<Vec<_>>().join(",");
            ask(&mut bob, &format!("settle('core', '{machine}', {}, 1, '[{charges}]', false)", batch - 1));
        }
    }
    assert_eq!(ask(&mut eve, &lease("machine-3", 1))[0][1].as_deref(), Some("refused"));
    let most = Some("9000000000000000000");
    assert_eq!(ask(&mut eve, "status('core')")[0][5].as_deref(), most);
    assert_eq!(ask(&mut eve, "projects('core', NULL)")[0][4].as_deref(), most);
}
