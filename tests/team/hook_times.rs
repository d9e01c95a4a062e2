//! What a team costs a hook call: the same calls in three homes in turn, of which one has joined no team, one has a team whose store is
//! there, and one a team whose store is gone. By hand, for figures: `FUSEBOX_ROUNDS=300 cargo test --test team -- hook_times --nocapture`.

use std::time::{Duration, Instant};

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// How many calls each makes where nobody says.
const FEW: usize = 15;

/// Makes a call and its end, and returns how long its first hook took.
fn call(client: &Client, number: usize) -> Duration {
    let call = format!(r#""tool_name":"Read","tool_input":{{"file_path":"/g{number}"}},"tool_use_id":"g{number}""#);
    let began = Instant::now();
    let answer = client.event("PreToolUse", &call);
    let took = began.elapsed();
    assert!(!answer.contains("deny"), "{answer}");
    client.event("PostToolUse", &format!(r#"{call},"tool_response":{{"text":"{number}"}}"#));
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_call_takes_no_longer_with_a_team_nor_with_one_whose_store_is_gone() {
    let (Some(server), Some(gone)) = (Postgres::start(), Postgres::start()) else { return };
    for server in [&server, &gone] {
        server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 0, NULL)").unwrap();
        cap(server, 100.0);
    }
    let machines = [Machine::new(&server, "bob"), joined(&server, "bob", ""), joined(&gone, "bob", "")];
    let clients = machines.each_ref().map(|machine| Client::start(machine, "s1"));
    for client in &clients {
        assert_eq!((client.prompt(), client.turn()), (None, None));
    }
    machines[2].good(&["sync"]);
    gone.crash();
    let rounds = std::env::var("FUSEBOX_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let mut times = [const { Vec::new() }; 3];
    for number in 0..rounds {
        for (client, times) in clients.iter().zip(&mut times) {
            times.push(call(client, number));
        }
    }
    let [none, there, gone] = times.map(median);
    eprintln!("{rounds} calls each, medians: no team {none:?}, a team {there:?}, a team whose store is gone {gone:?}");
    // One that asked the store would wait for it, or for its absence; the rest is what a machine at work does to any process.
    assert!(there < none * 2 && gone < none * 2, "{none:?} {there:?} {gone:?}");
}
