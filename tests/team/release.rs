//! Leases go back where nothing may spend them any more: others' slices grow by that.

use std::fs;

use fusebox::store::Store;

use crate::caps::{cap, joined, used, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// Returns what the team's machines hold beyond what is spent, in dollars.
fn held(server: &Postgres) -> f64 {
    let (spent, committed) = used(server);
    committed - spent
}

/// Has the last event of a session be so long ago.
fn silence(machine: &Machine, id: &str, ms: i64) {
    let store = Store::open_for(&machine.state(), None).unwrap();
    let mut session = store.session(id).unwrap().unwrap();
    session.last.wall_ms -= ms;
    store.begin().unwrap();
    store.save_session(&session).unwrap();
    store.commit().unwrap();
}

#[test]
fn a_session_that_was_stopped_holds_nothing_for_the_others_to_miss() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 0, NULL)").unwrap();
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    assert!(held(&server) > 1.0, "{:?}", used(&server));
    machine.shown_in(".", &["stop", "s1"]);
    machine.good(&["sync"]);
    assert!(held(&server).abs() < 1e-9, "{:?}", used(&server));
    machine.shown_in(".", &["resume", "s1"]);
    assert_eq!((client.prompt(), client.turn()), (None, None));
    // What its own limit has stopped is told of by the hook that stops it.
    fs::write(
        machine.home.path().join(".claude/fusebox.json"),
        r#"{"team":"core","session":{"max_turns":2,"grace_turns":0}}"#,
    )
    .unwrap();
    let other = Client::start(&machine, "s2");
    machine.shown_in(".", &["stop", "s1"]);
    assert_eq!(other.prompt(), None);
    wait_until("the limit stops it", || other.turn().is_some());
    wait_until("leases are given back", || held(&server).abs() < 1e-9);
}

#[test]
fn a_session_that_was_silent_for_long_holds_no_more_than_it_needs_to_go_on() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 0, NULL)").unwrap();
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    assert!(held(&server) > 1.0, "{:?}", used(&server));
    silence(&machine, "s1", 900_000);
    for _ in 0..2 {
        machine.good(&["sync"]);
        let least_slice = 0.05;
        assert!(held(&server) > 0.0 && held(&server) <= least_slice, "{:?}", used(&server));
    }
    assert_eq!((client.prompt(), client.turn()), (None, None));
}
