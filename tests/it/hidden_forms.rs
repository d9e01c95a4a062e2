//! What a shell does, the guard has read: each form in which a command starts a client without hooks, or writes what is the session's
//! own, is run by a shell with a client that only says how it was called, in a world of its own. What then happened is what has to have
//! been refused; the same form of an ordinary command passes. `FUSEBOX_LAWS=full` puts each form into each other one.

mod bounds;
mod clients;
mod depths;
mod files;
mod folders;
mod languages;
mod spellings;
mod values;

use std::process::Command;

use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::bypass_detection::path_rules::PathRules;

use crate::world::TestWorld;

/// What is the session's own in a world.
fn guard(world: &TestWorld) -> Guard {
    let own = |path: &str| Some(world.path(path).to_str().unwrap().to_owned());
    Guard {
        rules: PathRules::default(),
        state_dir: own("home/.local/state/fusebox"),
        program: own("home/.cargo/bin/fusebox"),
        target: None,
        project: own("project"),
        claude_dir: own("home/.claude"),
        home: own("home"),
        folder: own("project"),
        is_there: Some(|path| std::fs::symlink_metadata(path).is_ok()),
        ..Guard::default()
    }
}

/// Has bash run a command in a world's project.
fn run(world: &TestWorld, command: &str) {
    run_by(world, "bash", command);
}

/// Has a shell run a command in a world's project.
fn run_by(world: &TestWorld, shell: &str, command: &str) {
    let mut process = Command::new("timeout");
    let process = process
        .args(["20", shell, "-c", command])
        .env_clear()
        .envs(world.variables())
        .env("CLAUDE_CODE_EXECPATH", world.path("bin/claude"))
        .current_dir(world.path("project"));
    let _said = process.output().unwrap();
}

/// Whether the programs are there that a form needs.
fn has(needs: &str) -> bool {
    let is_there = |name: &str| Command::new("which").arg(name).output().unwrap().status.success();
    // Another program of this name (of moreutils) knows no `:::`.
    let is_gnu = || Command::new("parallel").arg("--version").output().unwrap().stdout.starts_with(b"GNU");
    needs.split_whitespace().all(|name| is_there(name) && (name != "parallel" || is_gnu()))
}
