//! A Yes that comes when others have long gone on.

use serde_json::{Value, json};

use crate::session_commands::fixture::Actor;
use crate::session_commands::prompt_block::begin;

/// Of two agents that ask about one cap, the second's Yes may come when the first has long gone on.
#[test]
fn a_grant_is_written_down_with_what_is_used_when_it_is_given() {
    let limits = json!({"max_cost_usd": 0.09, "timeout_action": "request_increase", "increase": {"max_cost_usd": 0.9}});
    let mut fixture = begin(&json!({"session": limits, "agents": {"worker": {"max_cost_usd": null}}}));
    fixture.spawn("");
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing was asked");
    let of_main = fixture.clock();
    assert!(!fixture.step(Actor::Worker), "a second dialog asks");
    let of_worker = fixture.last_call();
    fixture.rewind(&of_main);
    fixture.says_yes(Actor::Main);
    fixture.goes_on_after(&of_worker);
    (0..9).for_each(|_| assert!(fixture.step(Actor::Main)));
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_use_id": of_worker,
        "tool_response": {"text": 1}, "agent_id": "a1-0000", "agent_type": "worker"});
    fixture.tells("PostToolUse", call);
    let log = fixture.world.run(&["log", "--json"]).ok();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let granted: Vec<f64> =
        records.filter(|it| it["event"] == "LIMIT_GRANTED").map(|it| it["used"].as_f64().unwrap()).collect();
    let [first, second] = granted[..] else { panic!("{log}") };
    // Nine responses of 0.00584 USD came between them; the first question took one for granted that was in no transcript.
    assert!(second - first > 0.03, "{first} {second}: {log}");
}
