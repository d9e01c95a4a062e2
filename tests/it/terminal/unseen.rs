//! What a person types at a terminal that nobody else is to read is not shown there.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::world::{FUSEBOX, TestWorld};

/// Runs a command in a terminal, types a line once it has asked, and returns all that the terminal shows.
fn typed(world: &TestWorld, command: &str, asks: &str, line: &str) -> String {
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{FUSEBOX} {command}"), "/dev/null"]).env_clear().envs(world.variables());
    script.current_dir(world.path("project")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut script = script.spawn().unwrap();
    let (mut input, mut output) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let (mut shown, mut piece, mut is_typed) = (Vec::new(), [0; 4096], false);
    while let Ok(length @ 1..) = output.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
        if !is_typed && String::from_utf8_lossy(&shown).contains(asks) {
            input.write_all(format!("{line}\n").as_bytes()).unwrap();
            is_typed = true;
        }
    }
    script.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

#[test]
fn the_address_of_a_store_with_its_password_is_not_shown() {
    let world = TestWorld::new();
    world.run(&["init"]).ok();
    for command in ["team join core", "team init core"] {
        let shown = typed(&world, command, "address of the store", "postgres://ann:hidden-word@127.0.0.1:1/ledger");
        assert!(shown.contains("cannot be reached") && !shown.contains("hidden-word"), "{command}: {shown}");
    }
}
