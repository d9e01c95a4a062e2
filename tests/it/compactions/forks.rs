//! A person forks a session that is used up, and compacts the fork before anything else: nothing tells the session that it comes
//! from until its transcript is there. One compaction is made, and charged; no more are.

use serde_json::json;

use crate::compactions::fixture::{Clients, FIRST, Fixture, Open, REQUESTS};
use crate::compactions::law::capped;
use crate::state::load;

#[test]
fn a_persons_fork_of_a_session_that_is_used_up_compacts_once_at_the_most() {
    let fixture = Fixture::begin(&capped("max_requests", json!(REQUESTS)), 0);
    assert!(!fixture.may_compact(&fixture.first()), "it is used up");
    let of_the_person = Clients::start(0);
    let fork = Open { pid: of_the_person.pids[0], session: "s2".to_owned(), prompt: "f".to_owned() };
    fixture.event(&fork, "SessionStart", &json!({"source": "fork"}));
    assert_eq!(load(&fixture.world, "s2").0.outer, None);
    let mut made = 0;
    for _ in 0..3 {
        if fixture.may_compact(&fork) {
            if made == 0 {
                fixture.copies("s2", true);
            }
            made += 1;
            fixture.compacted(&fork, "claude-opus-5-5");
        }
    }
    assert_eq!(made, 1);
    let prompt = fixture.event(&fork, "UserPromptSubmit", &json!({"prompt": "on"}));
    assert!(prompt.contains(r#""decision":"block""#), "{prompt}");
    let spent = load(&fixture.world, "s2").0;
    assert_eq!((spent.counters.spent.requests, spent.inherited.requests), (REQUESTS + 1, REQUESTS));
    assert_eq!(load(&fixture.world, FIRST).0.counters.spent.requests, REQUESTS);
}
