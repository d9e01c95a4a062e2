//! Agents whose sessions are looked at: whoever looks, and however often, no call is refused for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::world::TestWorld;

const SESSIONS: usize = 20;
const CALLS: usize = 40;
const LOOKS: [&[&str]; 3] = [&["status"], &["report", "--json"], &["watch", "--once"]];

#[test]
fn no_call_is_refused_while_people_look() {
    let world = TestWorld::new();
    for number in 0..SESSIONS {
        for (name, rest) in
            [("SessionStart", json!({"source": "startup"})), ("UserPromptSubmit", json!({"prompt": "go"}))]
        {
            world.hook(world.event(&format!("s{number}"), "p1", name, &rest)).ok();
        }
    }
    let is_over = AtomicBool::new(false);
    let answers: Vec<String> = thread::scope(|scope| {
        for look in LOOKS {
            let (world, is_over) = (&world, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    world.run(look).ok();
                }
            });
        }
        let call = |number: usize| {
            let id = format!("t{number}");
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id});
            world.hook(world.event("s0", "p1", "PreToolUse", &call)).ok()
        };
        let answers = (0..CALLS).map(call).collect();
        is_over.store(true, Ordering::Relaxed);
        answers
    });
    let refused: Vec<&String> = answers.iter().filter(|answer| answer.contains("deny")).collect();
    assert!(refused.is_empty(), "{} of {CALLS}: {:?}", refused.len(), refused.first());
}
