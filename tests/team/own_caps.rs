//! What a machine's own files say of caps beside its team's, and by how much a team's cap can be passed.

use crate::caps::{Client, RESPONSE, cap, joined, used};
use crate::postgres::Postgres;

/// How many tokens a dear response writes, and what it costs in dollars.
const DEAR_OUTPUT: u64 = 2_000;
const DEAR: f64 = 0.04544;

/// Just before nothing is left, a response costs eight times what was expected.
#[test]
fn a_response_that_costs_more_than_expected_passes_no_cap() {
    let Some(server) = Postgres::start() else { return };
    let own = 0.3;
    cap(&server, own);
    let machine = joined(&server, "bob", r#""on_stale":"deny""#);
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    let mut spent = 0.0;
    for turn in 0..60 {
        let is_dear = turn == 0 || own - spent < DEAR;
        client.output.set(if is_dear { DEAR_OUTPUT } else { 20 });
        spent += if is_dear { DEAR } else { RESPONSE };
        if client.turn().is_some() {
            break;
        }
        machine.good(&["sync"]);
    }
    machine.good(&["sync"]);
    let (told, committed) = used(&server);
    assert!((told - spent).abs() < 1e-9, "{told} {spent}");
    assert!(told <= own && committed <= own && told > own / 2.0, "{told} {committed}");
}
