//! What is read later tells the clock's time: `in 50 s` was true at the moment of the trip.

use serde_json::json;

use crate::session_commands::fixture::Actor;
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;

#[test]
fn a_rate_that_has_struck_is_told_by_the_clock() {
    let mut fixture = begin(&json!({"adapter_rate_limit": {"max_requests": 2, "per_ms": 60_000}}));
    assert!((0..9).any(|_| !fixture.step(Actor::Main)), "nothing stops it");
    for is_blocked in [false, true] {
        if is_blocked {
            fixture.stops();
            assert!(!fixture.prompt());
            assert!(fixture.answers().contains("prompts are blocked:"), "{}", fixture.answers());
            assert!(fixture.answers().contains("It passes by itself in "), "{}", fixture.answers());
        }
        for command in ["explain", "explain s-0000", "report", "status"] {
            let said = shell(&fixture, &format!("fusebox {command}"));
            for frozen in ["itself in ", "slot in ", "open in ", "it tripped"] {
                assert!(!said.contains(frozen), "{is_blocked} {command}: {said}");
            }
            assert!(
                said.split_whitespace().collect::<Vec<_>>().join(" ").contains("itself at 20"),
                "{command}: {said}"
            );
        }
    }
}
