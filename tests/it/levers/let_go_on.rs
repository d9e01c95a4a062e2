//! Subagents that a pause has cut off: whoever resumes the session reads of them, and so does the main agent, which has to wake them.

use std::os::unix::fs::symlink;

use crate::levers::scene::{Actor, Scene};
use crate::world::FUSEBOX;

/// A session that is paused while its subagent works: the client ends the subagent, and nobody is told.
fn paused_with_a_subagent() -> Scene {
    let mut scene = Scene::new();
    symlink(FUSEBOX, scene.world.path("bin/fusebox")).unwrap();
    scene.begin();
    scene.spawn("");
    assert!(scene.step(Actor::Worker));
    scene.world.run(&["pause", "s-0000"]).ok();
    assert!(!scene.step(Actor::Worker), "a paused agent takes no step");
    scene.ends_worker();
    assert!(!scene.is_notified(), "nor does the main agent");
    scene
}

#[test]
fn a_pauses_subagents_are_named_to_who_resumes_it_and_to_the_main_agent() {
    let mut scene = paused_with_a_subagent();
    let said = scene.world.run(&["resume", "s-0000"]).ok();
    assert!(said.contains("which tells it that worker a1-0000 waits for a message"), "{said}");
    let status = scene.world.run(&["status"]).ok();
    assert!(status.contains("worker a1-0000  may go on"), "{status}");
    let next = "worker a1-0000, may go on\n    when the main agent sends it a message: ask for that in the client";
    assert!(status.contains(next), "{status}");
    assert!(scene.prompt());
    let told = "these subagents were stopped before they were done, and may go on now: worker (run a1-0000)";
    assert_eq!(scene.answers().matches(told).count(), 1, "{}", scene.answers());
    assert!(scene.prompt());
    assert_eq!(scene.answers().matches(told).count(), 1, "it is said once: {}", scene.answers());
}

#[test]
fn one_that_has_gone_on_meanwhile_is_named_no_more() {
    let mut scene = paused_with_a_subagent();
    scene.world.run(&["resume", "s-0000"]).ok();
    assert!(scene.step(Actor::Worker), "a message has woken it");
    assert!(scene.prompt());
    assert!(!scene.answers().contains("may go on now"), "{}", scene.answers());
}

/// What a person orders of a session is not said of a turn that had ended by itself.
#[test]
fn a_turn_that_had_ended_is_not_let_go_on_with_its_session() {
    for order in ["pause", "stop"] {
        let mut scene = Scene::new();
        scene.begin();
        assert!(scene.step(Actor::Main));
        scene.stops();
        scene.world.run(&[order, "s-0000"]).ok();
        scene.world.run(&["resume", "s-0000"]).ok();
        let status = |scene: &Scene| scene.world.run(&["status", "--all"]).ok();
        assert!(status(&scene).contains("main p1-0000  completed"), "{order}: {}", status(&scene));
        assert!(scene.prompt());
        assert!(scene.step(Actor::Main));
        let said = status(&scene);
        assert!(said.contains("main p1-0000  completed") && said.contains("main p2-0000  running"), "{order}: {said}");
    }
}
