//! `fusebox watch` on a machine of a team: it has the team told where no hook does, and tells the person of the team's caps.

use std::fs;
use std::time::{Duration, Instant};

use crate::machine::Machine;
use crate::postgres::Postgres;

/// How long something is waited for that a process in the background does.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn an_idle_machine_tells_what_it_spent_and_its_person_is_told_of_the_cap() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    ann.good(&["limit", "month=10"]);
    let told = bob.home.path().join("told");
    let policy = bob.home.path().join(".claude/fusebox.json");
    let command = format!(r#"{{"team":"core","alerts":{{"desktop":false,"command":"cat >> '{}'"}}}}"#, told.display());
    fs::write(&policy, command).unwrap();
    bob.spend("msg_1", 8);
    let heard = || {
        let spent = "SELECT coalesce(sum(cost_pico_usd), 0) / 1000000000000 FROM fusebox.charge";
        server.as_login("ann", spent).unwrap() == "8.0000000000000000"
    };
    assert!(!heard());
    let began = Instant::now();
    let alerts = || fs::read_to_string(&told).unwrap_or_default();
    while !alerts().contains("of team core are spent") {
        assert!(began.elapsed() < PATIENCE, "{:?} {}", bob.shown_in(".", &["watch", "--once"]), alerts());
        bob.shown_in(".", &["watch", "--once"]);
    }
    assert!(heard());
    assert_eq!(alerts().matches("75 % of the month's cap of team core are spent: 8.00 USD of 10.00 USD").count(), 1);
    bob.shown_in(".", &["watch", "--once"]);
    assert_eq!(alerts().lines().count(), 1, "{}", alerts());
}
