//! Commands without an id where a call is held: they take it, and call it as `fusebox status` does.

use serde_json::json;

use crate::held_pauses::{HELD, began, call, held, hook, run, world_of};

#[test]
fn a_stop_without_an_id_ends_what_is_held() {
    let limits = json!({"max_turns": 2, "warn_at": [], "timeout_action": "pause"});
    let policies = [
        json!({"pause_wait_ms": "10m"}),
        json!({"pause_wait_ms": "10m", "main": limits}),
        json!({"pause_wait_ms": "10m", "session": limits}),
    ];
    for policy in policies {
        for stop in [&["stop"][..], &["stop", "--yes"]] {
            let world = world_of(&policy);
            began(&world);
            if policy.as_object().unwrap().len() == 1 {
                assert!(world.run(&["pause", "--yes"]).ok().contains("is paused"));
            }
            let held = held(&world, call(&world, "t3"), 1);
            assert!(world.run(&["status"]).ok().contains(HELD));
            let said = world.run(stop).ok();
            assert!(said.contains("is the only one that is open (at work, held, or at a prompt)"), "{policy}: {said}");
            let answer = held.wait().ok();
            assert!(answer.contains("deny") && answer.contains(r#""continue":false"#), "{policy}: {answer}");
            assert_eq!(run(&world, "p1")["status"], "stopped", "{policy}");
        }
    }
}

#[test]
fn the_lists_of_stop_and_resume_call_what_is_held_as_status_does() {
    let world = world_of(&json!({"pause_wait_ms": "10m"}));
    began(&world);
    let other = |name: &str, rest| hook(&world, world.event("s2", "p2", name, &rest));
    other("SessionStart", json!({"source": "startup"}));
    let _said = world.run(&["pause", "s1"]).ok();
    let held = held(&world, call(&world, "t3"), 1);
    let listed = world.run(&["stop"]);
    assert!(listed.code == 1 && listed.stderr.contains(HELD), "{listed}");
    let _said = world.run(&["pause", "--yes"]).ok();
    let listed = world.run(&["resume"]);
    assert!(listed.code == 1 && listed.stderr.contains(&format!("{HELD}: a person paused it")), "{listed}");
    // What is paused and not held is nothing that a stop without an id takes.
    let said = world.run(&["stop"]).ok();
    assert!(said.contains("session s1 is the only one that is open (at work, held, or at a prompt)"), "{said}");
    assert!(held.wait().ok().contains("deny"));
}
