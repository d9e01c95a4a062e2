//! A small cap is spent to its end, although each part of it is reserved for a while before it may be spent.

use std::fs;

use crate::caps::{joined, used, wait_for_room, wait_until, within_a_day};
use crate::client::Client;
use crate::machine::fusebox;
use crate::postgres::Postgres;

/// How many tokens a response writes, and what it costs then, in dollars.
const OUTPUT: u64 = 2_200;
const COST: f64 = 0.04944;

#[test]
fn a_cap_of_a_few_responses_is_spent_to_its_end_at_the_protocols_own_times() {
    for usd in [0.5, 1.0, 2.0] {
        within_a_day(|| is_spent_to_its_end(usd));
    }
}

fn is_spent_to_its_end(usd: f64) {
    let Some(server) = Postgres::start() else { return };
    let set = format!("SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {})", (usd * 1e12) as u64);
    server.as_login("ann", &set).unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    client.output.set(OUTPUT);
    assert_eq!(client.prompt(), None);
    let answer = (0..60).find_map(|_| client.turn()).unwrap();
    // Whoever leaves waits for a sync that is under way.
    machine.good(&["leave"]);
    let (spent, committed) = used(&server);
    println!("{usd}: {spent} {answer}");
    // What is kept: for the next request, the report after it, a response in flight, and one that costs more than was expected.
    assert!(spent <= usd && spent + 4.5 * COST > usd, "{usd}: {spent} {answer}");
    assert!(answer.contains("bob's cap of the day in team core is at "), "{usd}: {spent} {answer}");
    assert!((committed - spent).abs() < 1e-9, "{usd}: {committed}");
}

/// Says how much a stop takes to be still to come.
fn to_come(answer: &str) -> &str {
    let figures = answer.split_once(" USD + ").and_then(|(_, rest)| rest.split_once(" to come"));
    figures.unwrap_or_else(|| panic!("{answer}")).0
}

/// However many turns of a session were ended or blocked, its team's cap stops the next one no earlier.
#[test]
fn what_was_stopped_before_is_not_taken_to_come_of_a_teams_cap() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    let leave_some = || {
        let own = ((used(&server).0 + 0.08) * 1e12) as u64;
        server.as_login("ann", &format!("SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {own})")).unwrap();
    };
    leave_some();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    let mut said = Vec::new();
    for stops in 1..=4 {
        leave_some();
        machine.good(&["sync"]);
        wait_for_room("the cap is raised", || client.prompt());
        let answer = (0..60).find_map(|_| {
            machine.good(&["sync"]);
            client.turn()
        });
        said.push(to_come(&answer.unwrap()).to_owned());
        if stops == 2 {
            client.prompt().expect("nothing is left");
        }
        machine.good(&["sync"]);
    }
    assert!(said.iter().all(|it| *it == said[0]), "{said:?}");
}

/// What a client tells its hooks until it is stopped, and once `go` is there that it ends.
const PLAYS: &str = r#"cd "$HOME"
for told in start prompt; do fusebox hook <$told >said; done
for turn in 0 1 2 3 4 5; do
    cat row$turn >>s1.jsonl
    for told in 0 1 2; do
        fusebox hook <told$turn-$told >said
        if grep -qE '"continue":false|"deny"' said; then break 2; fi
    done
done
mv said stopped
until test -e go; do sleep 0.01; done
fusebox hook <end"#;

/// What had stopped an agent is still told where the next lease comes before its client has gone.
#[test]
fn a_stop_stays_one_where_there_is_room_again_as_the_client_ends() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    let set = |usd: f64| {
        let cap = (usd * 1e12) as u64;
        server.as_login("ann", &format!("SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {cap})")).unwrap();
    };
    set(0.1);
    let machine = joined(&server, "bob", "");
    let write = |name: &str, text: &str| fs::write(machine.home.path().join(name), text).unwrap();
    let client = Client::named(&machine, "s1");
    client.output.set(OUTPUT);
    write("start", &client.input("SessionStart", r#""source":"startup""#));
    write("prompt", &client.input("UserPromptSubmit", r#""prompt":"go""#));
    write("end", &client.input("SessionEnd", r#""reason":"other""#));
    for turn in 0..6 {
        let (row, told) = client.next_turn();
        write(&format!("row{turn}"), &row);
        told.iter().enumerate().for_each(|(at, told)| write(&format!("told{turn}-{at}"), told));
    }
    std::thread::scope(|scope| {
        let plays = PLAYS.replace("fusebox", &fusebox());
        let machine = &machine;
        let run = scope.spawn(move || machine.said_in("", &["run", "--strict", "--", "sh", "-c", &plays]));
        wait_until("the cap stops it", || machine.home.path().join("stopped").exists() || run.is_finished());
        let stop = fs::read_to_string(machine.home.path().join("stopped")).unwrap();
        assert!(stop.contains(r#""continue":false"#), "{stop}");
        set(10.0);
        machine.good(&["sync"]);
        write("go", "");
        let said = run.join().unwrap();
        let told = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(3), "{told}");
        assert!(told.contains("bob's cap of the day in team core"), "{told}");
    });
}
