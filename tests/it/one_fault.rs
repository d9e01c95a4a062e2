//! `doctor` tells one fault once.

use crate::doctor::{doctor, with_client};

/// What is broken once is said once.
#[test]
fn one_fault_is_told_once_with_the_checks_that_it_fails() {
    let world = with_client("2.1.332");
    let text = doctor(&world);
    assert_eq!((text.matches("run `fusebox init`").count(), text.matches("registered").count()), (1, 1), "{text}");
    assert!(text.contains("for the same reason: blocking, failing"), "{text}");
    let _said = world.run(&["init"]).ok();
    world.write("project/.claude/settings.json", "{bad");
    let text = doctor(&world);
    assert_eq!(text.matches("no JSON").count(), 1, "{text}");
    world.write("project/.claude/settings.json", "{}");
    let _gone = std::fs::remove_dir_all(world.path("state"));
    world.write("state", "no folder");
    let text = doctor(&world);
    assert_eq!(text.matches("[ROOT]/state`").count() + text.matches("[ROOT]/state:").count(), 1, "{text}");
}
