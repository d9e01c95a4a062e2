//! `fusebox team sync` by hand: who types it reads the team's figures and can work on, and a lease that nobody uses is held by nobody.

use std::process::Command;

use fusebox::store::Store;

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::{Machine, fusebox};
use crate::postgres::Postgres;

/// Longer than a session without an event counts as at work, in milliseconds.
const SILENT_MS: i64 = 2 * 3_600_000;

/// Has a session be without an event for long.
fn silence(machine: &Machine<'_>, id: &str) {
    let store = Store::open_for(&machine.state(), None).unwrap();
    store.begin().unwrap();
    let mut session = store.session(id).unwrap().unwrap();
    session.last.wall_ms -= SILENT_MS;
    store.save_session(&session).unwrap();
    store.commit().unwrap();
}

/// Syncs as a person at a terminal does; returns what that says.
fn by_hand(machine: &Machine<'_>) -> String {
    let command = format!("'{}' team sync", fusebox());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("FUSEBOX_HOME", machine.state()).env("HOME", machine.home.path());
    for name in ["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CONFIG_DIR"] {
        script.env_remove(name);
    }
    let said = script.env("COLUMNS", "200").current_dir(machine.home.path()).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how many leases the store holds open.
fn open_leases(server: &Postgres) -> String {
    server.as_login("ann", "SELECT count(*) FROM fusebox.lease WHERE number > 0 AND state = 'open'").unwrap()
}

#[test]
fn who_syncs_by_hand_reads_the_figures_and_can_work_on_where_a_session_is_open() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    assert_eq!(open_leases(&server), "1");
    silence(&machine, "s1");
    // What nobody uses is given back: by hooks, and by cron.
    for unattended in [&["sync", "--background"][..], &["sync"]] {
        machine.good(unattended);
        assert_eq!(open_leases(&server), "0", "{unattended:?}");
    }
    let said = by_hand(&machine);
    assert_eq!(open_leases(&server), "1", "{said}");
    assert!(said.contains("told team core of 0 responses"), "{said}");
    assert!(said.contains("the cap of the month of team core: 0.0058/100.00 USD, resets 20"), "{said}");
    assert!(said.contains("this machine may spend 2.00 USD before it asks for more"), "{said}");
    server.crash();
    assert_eq!((client.prompt(), client.turn()), (None, None));
    server.go_on();
    // With the session's end nobody is there who could spend it.
    client.end();
    let said = by_hand(&machine);
    assert_eq!(open_leases(&server), "0", "{said}");
    assert!(said.contains("nothing is leased while nothing is at work: the next prompt asks for it"), "{said}");
}

#[test]
fn a_sync_says_of_a_cap_that_is_used_up_that_nothing_more_is_leased() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 3.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    machine.spend("m1", 5);
    for said in [machine.good(&["sync"]), by_hand(&machine)] {
        assert!(said.contains("the cap of the month of team core: 5.00/3.00 USD, resets 20"), "{said}");
        assert!(said.contains("nothing is leased: the store has nothing more to give"), "{said}");
    }
    assert!(client.prompt().is_some());
}
