//! Refusals after the one that ended an agent: they are the end itself, and change no figure.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};

/// An agent that may read once an hour, and asks for more until this cap of its refusals ends it.
fn refused(main: &Value) -> Fixture {
    let mut fixture = Fixture::new();
    let rate = json!([{"tool": "Read", "max": 1, "per_ms": 3_600_000}]);
    let policy = json!({"main": main, "rate_limits": rate});
    fixture.world.write("home/.claude/fusebox.json", policy.to_string());
    fixture.begin();
    for _ in 0..9 {
        if !fixture.step(Actor::Main) {
            fixture.declines(Actor::Main);
        }
    }
    fixture
}

#[test]
fn what_ends_an_agent_is_shown_with_the_figures_of_its_end() {
    for action in ["terminate", "pause"] {
        for grace in [0, 1, 3] {
            let limits = json!({"max_denials": 3, "grace_turns": grace, "actions": {"max_denials": action}});
            let fixture = refused(&limits);
            for command in [&["status", "--all"][..], &["explain", "p1-0000"], &["report", "--since", "all"]] {
                let said = fixture.world.run(command).ok();
                assert!(said.contains("3/3") && said.contains("max_denials"), "{limits} {command:?}: {said}");
                assert!(!said.contains("/3 max_denials") || said.contains(" 3/3 max_denials"), "{limits}: {said}");
                assert!(!["0/3", "4/3", "5/3", "6/3"].iter().any(|wrong| said.contains(wrong)), "{limits}: {said}");
            }
            assert!(!fixture.answers().contains("the last for max_denials"), "{limits}: {}", fixture.answers());
        }
    }
}
