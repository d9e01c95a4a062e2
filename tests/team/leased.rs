//! Who holds how much of the money, and until when: what an admin sees by machine, and what a person reads whose own machines hold it.

use serde_json::Value;

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

const OTHER: &str = "22222222-other-machine";

/// Has another machine of a login lease so many dollars.
fn lease(server: &Postgres, login: &str, usd: u64) {
    let lease = format!("SELECT answer FROM fusebox.lease('core', '{OTHER}', 1, {usd}000000000000)");
    assert_eq!(server.as_login(login, &lease).unwrap(), "reserved");
}

/// Has a store lease all that is asked for.
fn whole_slices(server: &Postgres) {
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, 1000000000000000)").unwrap();
}

#[test]
fn an_admin_sees_which_machine_holds_how_much_and_until_when() {
    let Some(server) = Postgres::start() else { return };
    whole_slices(&server);
    cap(&server, 100.0);
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    let row = |shown: &str, begins: &str| {
        let row = shown.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("{shown}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!ann.good(&["status"]).contains("leases that machines hold"));
    lease(&server, "bob", 7);
    let shown = ann.good(&["status"]);
    assert!(shown.contains("leases that machines hold"), "{shown}");
    let held = row(&shown, "22222222");
    assert_eq!(held[1..4], ["bob", "7.00", "USD"], "{shown}");
    assert!(held[4].starts_with("20"), "{shown}");
    let members = ann.good(&["members"]);
    assert!(row(&members, "bob").contains(&"7.00".to_owned()), "{members}");
    let json = |machine: &Machine<'_>, list: &str| -> Value {
        serde_json::from_str(&machine.good(&[list, "--json"])).unwrap()
    };
    let limits = json(&ann, "limits");
    let held = &limits["leases"][0];
    assert_eq!(held["machine"], OTHER);
    assert_eq!((held["login"].as_str(), held["left_usd"].as_str()), (Some("bob"), Some("7.000000000000")), "{limits}");
    assert_eq!(held["is_expired"], false);
    assert!(fusebox::domain::text::rfc3339::parse(held["until"].as_str().unwrap()).is_some(), "{limits}");
    assert_eq!(json(&ann, "members")["members"][1]["leased_usd"], "7.000000000000");
    // A member sees nobody else's.
    server.as_login("ann", "SELECT fusebox.set_member('core', 'eve', 'member')").unwrap();
    let eve = Machine::new(&server, "eve");
    eve.good(&["join", "core"]);
    assert!(!eve.good(&["status"]).contains("22222222"));
    assert_eq!(json(&eve, "limits")["leases"], serde_json::json!([]));
    assert_eq!(json(&eve, "members")["members"][1]["leased_usd"], Value::Null);
    // What is over is named as such alone.
    server.as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp()").unwrap();
    let shown = ann.good(&["status"]);
    assert!(!shown.contains("leases that machines hold") && shown.contains("expired leases"), "{shown}");
    assert_eq!(json(&ann, "limits")["leases"][0]["is_expired"], true);
}

#[test]
fn who_holds_what_is_left_is_not_told_to_be_blocked() {
    let Some(server) = Postgres::start() else { return };
    whole_slices(&server);
    cap(&server, 1.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    let shown = machine.good(&["status"]);
    let may = "you may go on: the cap of the month of team core is at 0.0058/1.00 USD + 0.9942 leased, 0.9942 USD of it to this machine";
    assert!(!shown.contains("blocked") && shown.contains(may), "{shown}");
    assert_eq!((client.prompt(), client.turn()), (None, None));
}

#[test]
fn who_is_blocked_by_another_machine_of_theirs_reads_which_one_and_what_gives_it_back() {
    let Some(server) = Postgres::start() else { return };
    whole_slices(&server);
    cap(&server, 7.0);
    let (bob, eve) = (Machine::new(&server, "bob"), Machine::new(&server, "eve"));
    bob.good(&["join", "core"]);
    eve.good(&["join", "core"]);
    lease(&server, "bob", 7);
    let shown = bob.good(&["status"]);
    let held = "you are blocked: the cap of the month of team core is at 0.00/7.00 USD + 7.00 leased, 7.00 USD of it to your machine 22222222 until 20";
    assert!(shown.contains(held), "{shown}");
    assert!(shown.contains("; the end of its sessions gives it back; "), "{shown}");
    let shown = eve.good(&["status"]);
    assert!(shown.contains("you are blocked: ") && !shown.contains("your machine"), "{shown}");
}
