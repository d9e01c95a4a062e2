//! What who leads a team reads and does: each cap can be taken away, what is advised is enough, and a slip names the next step.

use serde_json::Value;

use crate::caps::{cap, joined, within_a_day};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

#[test]
fn each_cap_that_is_listed_can_be_taken_away_whomever_it_still_binds() {
    let Some(server) = Postgres::start() else { return };
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    ann.good(&["group", "ops", "--add", "eve"]);
    let whose: [&[&str]; 5] =
        [&[], &["--each-user"], &["--user", "bob"], &["--group", "ops"], &["--project", "git.example/app"]];
    for whose in whose {
        ann.good(&[&["limit", "day=5", "month=50"], whose].concat());
    }
    for login in ["bob", "eve"] {
        ann.good(&["invite", login, "--remove"]);
    }
    // What is set nowhere is taken from nobody, and no cap is set for who takes no part.
    for (caps, login) in [("week=none", "bob"), ("day=none", "bobb"), ("day=6", "bob")] {
        let refused = ann.bad(&["limit", caps, "--user", login]);
        assert!(refused.contains("takes no part in team core"), "{caps} {login}: {refused}");
    }
    for whose in whose {
        ann.good(&[&["limit", "day=none", "month=none"], whose].concat());
    }
    let left = ann.good(&["limits"]);
    assert!(left.contains("team core has no cap"), "{left}");
}

/// Returns the command of `fusebox team` that a message names, without the program's words.
fn advised(message: &str) -> Vec<String> {
    let (_, command) = message.split_once("`fusebox team ").unwrap_or_else(|| panic!("{message}"));
    command.split('`').next().unwrap().split(' ').map(str::to_owned).collect()
}

#[test]
fn what_a_message_advises_is_enough_and_raises_no_other_cap() {
    within_a_day(|| {
        let Some(server) = Postgres::start() else { return };
        server.as_login("ann", "SELECT fusebox.set_team('core', 'ann', NULL, 0, NULL)").unwrap();
        let ann = Machine::new(&server, "ann");
        ann.good(&["join", "core"]);
        for whose in [&["--user", "bob"][..], &[]] {
            ann.good(&[&["limit", "day=0.2", "month=90"], whose].concat());
            let machine = joined(&server, "bob", "");
            let client = Client::start(&machine, if whose.is_empty() { "s1" } else { "s2" });
            assert_eq!(client.prompt(), None);
            while client.turn().is_none() {}
            let told = client.prompt().unwrap();
            let status = machine.good(&["status"]);
            let (_, of_status) = status.split_once("you are blocked: ").unwrap_or_else(|| panic!("{status}"));
            for message in [told.as_str(), of_status] {
                assert!(message.contains("ask ann: `"), "{message}");
                let command = advised(message);
                assert!(command.ends_with(&["--period".to_owned(), "day".to_owned()]), "{message}");
            }
            let command = advised(&told);
            let granted = ann.good(&command.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(!granted.contains("month") && !granted.contains("still blocked"), "{granted}");
            machine.good(&["sync"]);
            assert_eq!(client.prompt(), None, "{granted}");
            assert_eq!(client.turn(), None, "{granted}");
            ann.good(&[&["limit", "day=none", "month=none"], whose].concat());
            machine.good(&["leave"]);
        }
    });
}

#[test]
fn a_reload_says_that_a_session_is_bound_by_another_team() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["leave"]);
    let left = machine.shown_in(".", &["reload", "--all"]);
    assert!(left.contains("\n  team: core -> none\n"), "{left}");
    machine.good(&["join", "core"]);
    let joined = machine.shown_in(".", &["reload", "--all"]);
    assert!(joined.contains("\n  team: none -> core\n"), "{joined}");
}

#[test]
fn an_agent_that_a_teams_cap_has_stopped_is_told_of_once_in_status() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 30000000000)").unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    while client.turn().is_none() {}
    for command in ["status", "report"] {
        let shown = machine.shown_in(".", &[command]);
        assert_eq!(shown.matches("ask ann@core").count(), 1, "{shown}");
    }
}

#[test]
fn programs_read_times_as_rfc_3339() {
    let Some(server) = Postgres::start() else { return };
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    ann.good(&["limit", "day=5", "week=5", "month=50"]);
    ann.good(&["limit", "day=5", "--user", "bob"]);
    ann.good(&["invite", "bob", "--remove"]);
    ann.spend("m1", 1);
    ann.good(&["sync"]);
    let mut times = 0;
    for (command, list, key) in [("limits", "limits", "resets"), ("members", "members", "heard")] {
        let shown: Value = serde_json::from_str(&ann.good(&[command, "--json"])).unwrap();
        for row in shown[list].as_array().unwrap() {
            // Of what binds nobody, and who was never heard, there is none.
            let Some(time) = row[key].as_str().filter(|time| !time.is_empty()) else { continue };
            assert!(fusebox::domain::text::rfc3339::parse(time).is_some(), "{command}: {row}");
            times += 1;
        }
    }
    assert!(times >= 4, "{times}");
}

#[test]
fn who_misspells_a_team_or_takes_another_database_reads_the_next_step() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    let misspelt = bob.bad(&["join", "cor"]);
    assert!(misspelt.contains("bob is no member of a team cor"), "{misspelt}");
    assert!(misspelt.contains("the nearest is core"), "{misspelt}");
    server.as_login("boss", "CREATE DATABASE other").unwrap();
    let other = format!("postgres://bob@/other?host={}", server.folder().display());
    let refused = bob.run_with(&other, &["join", "core"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("schema \"fusebox\" does not exist"), "{said}");
    assert!(
        said.contains("no team's store is in this database") && said.contains("`fusebox team init NAME`"),
        "{said}"
    );
}

#[test]
fn one_cap_is_spoken_of_as_one() {
    let Some(server) = Postgres::start() else { return };
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    for (caps, says) in [(&["day=5"][..], "goes by it from"), (&["week=9", "month=50"], "goes by them from")] {
        let set = ann.good(&[&["limit"], caps].concat());
        assert!(set.ends_with(&format!("each machine {says} its next sync on\n")), "{set}");
        let shown = ann.good(&["status"]);
        assert!(shown.contains(&format!("each machine {says} its next sync on\n")), "{shown}");
    }
}

#[test]
fn a_store_that_is_gone_leaves_a_reserve_that_is_told_and_no_cap_is_spoken_of() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 1.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    server.crash();
    let stopped = (0..90).find_map(|_| client.turn()).unwrap();
    assert!(stopped.contains("has not been heard since"), "{stopped}");
    machine.bad(&["sync"]);
    let blocked = client.prompt().unwrap();
    let (_, left) = blocked.split_once("is spent but for a reserve of ").unwrap_or_else(|| panic!("{blocked}"));
    let left = left.split(" USD").next().unwrap();
    let doctor = machine.shown_in(".", &["doctor"]);
    assert!(doctor.contains(&format!("{left} USD is leased")), "{left}: {doctor}");
    let explained = machine.shown_in(".", &["explain", "s1"]);
    assert!(!explained.contains("What others of the team spend"), "{explained}");
    server.go_on();
}

#[test]
fn who_switches_limits_off_tells_the_client_too_that_the_teams_caps_stay() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 1.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    let stays = "the caps of team core stay, and all that is spent counts";
    let said = machine.shown_in(".", &["off", "s1", "--for", "1h"]);
    assert!(said.contains(stays), "{said}");
    let told = client.event("UserPromptSubmit", r#""prompt":"go""#);
    assert!(told.contains(stays), "{told}");
}
