//! What an agent makes of the files of its team: whatever it writes there, however often, no cap is passed, and a person can mend it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::caps::{RESPONSE, cap, joined, used};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// What is done to a file before each sync. `first` is what it was at the beginning.
type Forges = fn(path: &Path, first: &str);

/// Changes what a file says.
fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let Ok(mut value) = serde_json::from_str(&text) else { return };
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

fn each_lease(path: &Path, change: impl Fn(&mut Value)) {
    edit(path, |machine| machine["leases"].as_array_mut().into_iter().flatten().for_each(&change));
}

/// What can be made of the file of leases.
const OF_MACHINE: [(&str, Forges); 11] = [
    ("larger leases", |path, _| each_lease(path, |lease| lease["amount"] = json!(1_000_000_000_000_000_u64))),
    ("leases that live for ever", |path, _| each_lease(path, |lease| lease["lives_ms"] = json!(1_000_000_000_000_u64))),
    ("leases of which nothing is spent", |path, _| each_lease(path, |lease| lease["spent"] = json!(0))),
    ("leases that may be spent again", |path, _| each_lease(path, |lease| lease["stage"] = json!("usable"))),
    ("batches that are told already", |path, _| each_lease(path, |lease| lease["confirmed"] = json!(1_000_000))),
    ("no batches", |path, _| each_lease(path, |lease| (lease["batches"], lease["open"]) = (json!([]), json!([])))),
    ("responses that are charged already", |path, _| {
        let told = |number: usize| (format!("msg_s1_{number}"), json!(1_000_000_000_000_u64));
        edit(path, |machine| machine["charged"] = Value::Object((0..99).map(told).collect()));
    }),
    ("a larger lease beside the others", |path, _| {
        edit(path, |machine| {
            let mut leases = machine["leases"].as_array().cloned().unwrap_or_default();
            let Some(mut lease) = leases.first().cloned() else { return };
            (lease["amount"], lease["stage"], lease["spent"]) =
                (json!(1_000_000_000_000_000_u64), json!("usable"), json!(0));
            leases.insert(0, lease);
            machine["leases"] = json!(leases);
        });
    }),
    ("what it was first", |path, first| fs::write(path, first).unwrap()),
    ("nothing", |path, _| fs::remove_file(path).unwrap_or_default()),
    ("no JSON", |path, _| fs::write(path, "{").unwrap()),
];

/// What can be made of the file that says what was joined.
const OF_JOINED: [(&str, Forges); 5] = [
    ("nothing", |path, _| fs::remove_file(path).unwrap_or_default()),
    ("a time from which on nothing is told", |path, _| {
        edit(path, |joined| joined["since_ms"] = json!(9_000_000_000_000_000_u64))
    }),
    ("another team", |path, _| edit(path, |joined| joined["team"] = json!("other"))),
    ("another store", |path, _| edit(path, |joined| joined["store"] = json!("postgres://bob@127.0.0.1:1/postgres"))),
    ("no JSON", |path, _| fs::write(path, "{").unwrap()),
];

/// The cap, in responses.
const CAP: usize = 12;

/// Works on past the cap, with a file forged before each sync. Returns what was made, spent, and spent or leased, in responses: the
/// most of each.
fn works_on(server: &Postgres, machine: &Machine<'_>, path: &Path, forges: Forges) -> [f64; 3] {
    let first = fs::read_to_string(path).unwrap();
    let client = Client::start(machine, "s1");
    client.prompt();
    let mut most = [0.0_f64; 3];
    for _ in 0..CAP * 3 {
        forges(path, &first);
        // It may be refused: then what is known holds.
        let _told = machine.run(&["sync"]);
        let stopped = client.turn();
        let (spent, committed) = used(server);
        let now = [client.turns.get() as f64, spent / RESPONSE, committed / RESPONSE];
        most = [0, 1, 2].map(|at| most[at].max(now[at]));
        if stopped.is_some() {
            break;
        }
    }
    most
}

#[test]
fn whatever_an_agent_makes_of_the_teams_files_no_cap_is_passed() {
    let mut failed = Vec::new();
    let of_machine = OF_MACHINE.map(|(what, forges)| ("team-machine.json", what, forges));
    let of_joined = OF_JOINED.map(|(what, forges)| ("team.json", what, forges));
    for (name, what, forges) in of_machine.into_iter().chain(of_joined) {
        let Some(server) = Postgres::start() else { return };
        cap(&server, CAP as f64 * RESPONSE);
        let slice = (RESPONSE * 3.0 * 1e12) as u64;
        server.as_login("ann", &format!("SELECT fusebox.set_team('core', NULL, NULL, 0, {slice})")).unwrap();
        let machine = joined(&server, "bob", "\"on_stale\":\"deny\"");
        let most = works_on(&server, &machine, &machine.state().join(name), forges);
        if most.iter().any(|most| *most > CAP as f64 + 1e-6) {
            failed.push(format!("{name} becomes {what}: {most:?} responses made, spent, leased past a cap of {CAP}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_file_that_was_forged_is_made_anew_and_work_goes_on() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None));
    fs::remove_file(machine.state().join("team-machine.json")).unwrap();
    machine.good(&["sync"]);
    assert_eq!((client.turn(), client.turn()), (None, None));
    client.end();
    machine.good(&["sync"]);
    // Each response is charged once, and nothing stays leased.
    let (spent, committed) = used(&server);
    assert!((spent - 4.0 * RESPONSE).abs() < 1e-9 && (committed - spent).abs() < 1e-9, "{spent} {committed}");
    // What was joined is a person's to write anew.
    fs::write(machine.state().join("team.json"), "{}").unwrap();
    assert!(machine.bad(&["sync"]).contains("`fusebox team join NAME` writes it anew"));
    let doctor = machine.shown_in(".", &["doctor"]);
    assert!(doctor.contains("writes it anew"), "{doctor}");
    machine.good(&["join", "core"]);
    machine.good(&["sync"]);
}

#[test]
fn a_person_is_told_in_the_client_where_the_file_of_what_was_joined_is_not_taken() {
    for (on_stale, words) in [
        ("allow", "work goes on without the team's cap"),
        ("warn", "what is left of this machine's lease is spent for a while"),
    ] {
        let Some(server) = Postgres::start() else { return };
        cap(&server, 100.0);
        server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
        let terms = format!("\"on_stale\":\"{on_stale}\"");
        let machine = joined(&server, "bob", &terms);
        let client = Client::start(&machine, "s1");
        assert_eq!((client.prompt(), client.turn()), (None, None));
        edit(&machine.state().join("team.json"), |joined| {
            joined["store"] = json!("postgres://bob@127.0.0.1:1/postgres")
        });
        let log = || fs::read_to_string(machine.state().join("execution-limits.log")).unwrap_or_default();
        let began = std::time::Instant::now();
        while !log().contains(words) && began.elapsed() < crate::caps::PATIENCE {
            client.turn();
        }
        assert!(log().contains(words), "{on_stale}: {}", log());
        // Who leaves is let go all the same, and told what was not given back.
        assert!(machine.bad(&["leave"]).contains("another program has changed"));
        assert!(!machine.state().join("team.json").exists());
    }
}
