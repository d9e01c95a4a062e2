//! A small cap is spent to its end, although each part of it is reserved for a while before it may be spent.

use crate::caps::{Client, joined, used, within_a_day};
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
