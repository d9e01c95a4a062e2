//! What a person reads of a client that an agent started, once a limit above has ended its work and it is gone.

use serde_json::json;

use crate::nested::{Processes, call, event, start};
use crate::state::save;
use crate::world::TestWorld;

/// A first client whose agent has made one of four calls, and one below it that has made the others and is gone. `cap` is what
/// the session below may make by itself.
struct Ended {
    world: TestWorld,
    _first: Processes,
}

impl Ended {
    fn with_own_cap(cap: u64) -> Ended {
        let world = TestWorld::new();
        let rules = json!({"max_turns": 4, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"});
        world.write("home/.claude/fusebox.json", json!({"session": rules}).to_string());
        let processes = Processes::start();
        let (first, below) = (processes.pids[0], processes.pids[1]);
        start(&world, first, "s1");
        assert_eq!(call(&world, first, "s1", "own"), "");
        start(&world, below, "s2");
        for number in 0..3 {
            assert_eq!(call(&world, below, "s2", &format!("below{number}")), "");
        }
        assert!(call(&world, below, "s2", "last").contains(r#""deny""#));
        event(&world, below, "s2", "SessionEnd", &json!({"reason": "other"}));
        save(&world, |store| {
            let mut session = store.session("s2").unwrap().unwrap();
            let rules = session.limits.limits.iter_mut().filter(|rule| rule.name() == "max_turns");
            rules.for_each(|rule| rule.cap = cap);
            store.save_session(&session).unwrap();
        });
        Ended { world, _first: processes }
    }

    /// Returns what a command says, in one line.
    fn says(&self, arguments: &[&str]) -> String {
        self.world.run(arguments).ok().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn whoever_takes_it_up_is_told_of_what_its_own_session_lacks() {
    let ended = Ended::with_own_cap(3);
    let next = "fusebox grant s2 max_turns=+2, then claude --resume s2";
    for said in [ended.says(&["status", "--all"]), ended.says(&["explain", "p-s2"])] {
        assert!(said.contains(next), "{said}");
    }
    ended.world.run(&["grant", "s2", "max_turns=+2"]).ok();
    let status = ended.says(&["status", "--all"]);
    assert!(status.contains("claude --resume s2") && !status.contains("grant s2"), "{status}");
}

#[test]
fn where_its_own_session_has_room_nothing_is_to_be_granted_to_it() {
    let ended = Ended::with_own_cap(4);
    let status = ended.says(&["status", "--all"]);
    for said in [&status, &ended.says(&["explain", "p-s2"])] {
        assert!(said.contains("claude --resume s2") && !said.contains("grant s2"), "{said}");
    }
    // The session above says where its limit was reached, and what gives more of it.
    assert!(
        status.contains("session s1, ended by limit: 4 of 4 tool calls of the session (max_turns, user)"),
        "{status}"
    );
    assert!(status.contains("reached in session s2, which its agent started"), "{status}");
    assert_eq!(status.matches("fusebox grant s1").count(), 1, "{status}");
}
