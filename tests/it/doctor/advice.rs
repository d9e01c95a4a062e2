//! What `doctor` advises, done.

use crate::doctor::with_client;

/// What `doctor` advises where the state cannot be kept helps.
#[test]
fn a_state_folder_that_cannot_be_made_is_to_be_another() {
    let world = with_client("2.1.332");
    world.write("taken", "");
    let _said = world.run(&["init"]).ok();
    let at = |folder: &str| {
        let state = world.path(folder).display().to_string();
        world.command(&["doctor"]).env("FUSEBOX_HOME", &state).env("COLUMNS", "300").run().stdout
    };
    let said = at("taken/state");
    let failed = said.lines().filter(|line| line.starts_with("FAIL")).count();
    let advised = said.matches("-> set FUSEBOX_HOME to a folder that you may write to").count();
    assert!(failed >= 2 && advised == failed, "{said}");
    let said = at("other");
    assert!(!said.contains("FAIL"), "{said}");
}
