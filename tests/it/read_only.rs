//! A state that can only be read: what tells of it reads it, and leaves it as it is.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::world::{FUSEBOX, Outcome, TestWorld};

/// A user who is not root, whom every system has: root may write what a mode forbids.
const NOBODY: &str = "65534";

fn done(program: &str, arguments: &[&str], path: &Path) {
    assert!(Command::new(program).args(arguments).arg(path).status().unwrap().success(), "{program} {arguments:?}");
}

/// Makes a world with a session that a limit has stopped, and the program where another user can start it.
fn stopped() -> TestWorld {
    let world = TestWorld::new();
    fs::copy(FUSEBOX, world.path("bin/fusebox")).unwrap();
    world.write("home/.claude/fusebox.json", json!({"main": {"max_turns": 1, "grace_turns": 0}}).to_string());
    let call = |id: &str| json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id});
    for (name, more) in
        [("UserPromptSubmit", json!({"prompt": "go"})), ("PreToolUse", call("t1")), ("PreToolUse", call("t2"))]
    {
        let _answer = world.hook(world.event("s1", "p1", name, &more)).ok();
    }
    world
}

/// Runs a command as a user who is not root.
fn run(world: &TestWorld, line: &str) -> Outcome {
    let program = world.path("bin/fusebox").display().to_string();
    let own = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--", program.as_str()];
    let words = || line.split(' ');
    match fusebox::platform::processes::user_id() {
        0 => world.program("setpriv", &own.into_iter().chain(words()).collect::<Vec<_>>()).run(),
        _ => world.program(&program, &words().collect::<Vec<_>>()).run(),
    }
}

#[test]
fn a_state_that_cannot_be_written_is_read_and_left_as_it_is() {
    let world = stopped();
    let state = world.path("state");
    if fusebox::platform::processes::user_id() == 0 {
        done("chown", &["-R", &format!("{NOBODY}:{NOBODY}")], &state);
        done("chmod", &["755"], &world.path(""));
    }
    let lines = ["status", "report --since all", "explain", "log --since all", "status --json"];
    let before = lines.map(|line| run(&world, line).ok());
    let files = || {
        world
            .files("state")
            .lines()
            .map(|file| (file.to_owned(), fs::read(world.path(file)).unwrap()))
            .collect::<Vec<_>>()
    };
    let kept = files();
    done("chmod", &["-R", "a-w"], &state);
    for (line, before) in lines.into_iter().zip(&before) {
        let said = run(&world, line);
        assert_eq!(said.code, 0, "{line}: {said}");
        assert!(before.contains("max_turns"), "{line}: {before}");
        // A session that nobody has told of for some moments has rested by so much more.
        assert_eq!(said.stdout.lines().count(), before.lines().count(), "{line}: {said}{before}");
        assert!(said.stdout.contains("max_turns"), "{line}: {said}");
        assert_eq!(said.stderr, "fusebox: [ROOT]/state cannot be written: a copy of it is read, and nothing is kept\n");
    }
    assert!(files() == kept, "the state is as it was: {}", world.files("state"));
    let refused = run(&world, "prune");
    assert_ne!(refused.code, 0, "what changes the state says that it cannot: {refused}");
    done("chmod", &["-R", "u+w"], &state);
}
