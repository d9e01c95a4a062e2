//! Clients on machines of one team, which share a cap: each machine is a home, a state and a login of the store in PostgreSQL.

use std::time::Instant;

use serde_json::json;

use crate::lab::{Lab, PATIENCE, fusebox};
use crate::postgres::Postgres;
use crate::script::{Script, call, main, work};
use crate::terminal::Terminal;
use crate::version::request_usd;

/// Starts a store whose team has a cap for the month of so many requests, given out in slices of three; says aloud where there is none.
pub fn store(requests: f64) -> Option<Postgres> {
    let server = Postgres::start()?;
    let slice = pico_usd(request_usd() * 3.0);
    let team = format!("SELECT fusebox.set_team('core', 'ann@core', NULL, 0, {slice})");
    server.as_login("ann", &team).unwrap();
    cap(&server, requests);
    Some(server)
}

/// Sets the cap, in requests.
pub fn cap(server: &Postgres, requests: f64) {
    let amount = pico_usd(request_usd() * requests);
    server.as_login("ann", &format!("SELECT fusebox.set_cap('core', 'team', '', 'month', {amount})")).unwrap();
}

fn pico_usd(usd: f64) -> u64 {
    (usd * 1e12) as u64
}

/// Returns what is spent, and what is spent or leased, in requests.
pub fn used(server: &Postgres) -> (f64, f64) {
    let sums = "SELECT coalesce(sum(spent_pico_usd), 0), coalesce(sum(committed_pico_usd), 0) FROM fusebox.used
        WHERE login = '' AND period = 'month'";
    let row = server.as_login("ann", sums).unwrap();
    let requests = |text: &str| text.parse::<f64>().unwrap() / 1e12 / request_usd();
    row.split_once('|').map_or((0.0, 0.0), |(spent, committed)| (requests(spent), requests(committed)))
}

/// A machine of a login that has joined the team, with a client that plays this.
pub fn machine(server: &Postgres, login: &str, script: Script) -> Lab {
    let main = json!({"grace_turns": 0, "max_turns": null, "timeout_action": "terminate"});
    let lab = Lab::new(json!({"main": main, "session": {"grace_turns": 0}}), vec![script]);
    let address = format!("postgres://{login}@/postgres?host={}", server.folder().display());
    let mut join = lab.of_person(&fusebox());
    let joined = join.args(["team", "join", "core"]).env("FUSEBOX_TEAM_STORE", address).output().unwrap();
    assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
    lab
}

/// Whether the machine's agent was stopped by the team's cap.
pub fn was_stopped(lab: &Lab) -> bool {
    lab.logged("AGENT_FAILED").iter().any(|record| record.to_string().contains("the cap of the month of team core "))
}

#[test]
fn three_clients_on_three_machines_share_one_cap_and_go_on_once_it_is_raised() {
    const CAP: f64 = 40.0;
    let Some(server) = store(CAP) else { return };
    let labs = ["ann", "bob", "eve"].map(|login| machine(&server, login, main([call([work()])]).forever()));
    let terminals = labs.each_ref().map(|lab| Terminal::open(lab, &[]));
    terminals.iter().for_each(|terminal| terminal.types("MAIN start"));
    for lab in &labs {
        lab.until("the end of its share", || {
            let (spent, committed) = used(&server);
            assert!(spent <= CAP && committed <= CAP, "{spent} {committed}");
            was_stopped(lab)
        });
    }
    let made: Vec<usize> = labs.iter().map(|lab| lab.api.requests_of("MAIN").len()).collect();
    let all: usize = made.iter().sum();
    assert!(all as f64 <= CAP && all >= 25 && made.iter().all(|made| *made > 1), "{made:?}");
    cap(&server, CAP * 3.0);
    for (terminal, (lab, before)) in terminals.iter().zip(labs.iter().zip(made)) {
        let goes_on = || lab.api.requests_of("MAIN").len() > before + 1;
        // A prompt within two seconds of a sync that brought nothing is kept back all the same: the person sends it again.
        let began = Instant::now();
        while !goes_on() && began.elapsed() < PATIENCE {
            let kept_back = || lab.logged("AGENT_WARNING").len();
            let known = kept_back();
            terminal.types("MAIN go on");
            lab.until("an answer to the prompt", || goes_on() || kept_back() > known);
        }
        assert!(goes_on(), "{}", lab.must(&["log"]));
        // The same client goes on, which was never restarted.
        assert_eq!(lab.events("SessionStart").len(), 1, "{}", lab.story());
    }
}
