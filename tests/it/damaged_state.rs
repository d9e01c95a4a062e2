//! A damaged state, as a cache may bring it back: each command that cannot read it says what happened, what is lost and what to do, and
//! that does.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::state::with_shop;
use crate::world::{Outcome, TestWorld};

/// Ways in which a database is damaged.
const DAMAGES: [&str; 5] = ["garbage", "its first half", "a page overwritten", "a row that is no JSON", "no limits"];

fn damage(world: &TestWorld, how: &str) {
    let path = world.path("state/state.db");
    let bytes = fs::read(&path).unwrap();
    let database = || Connection::open(&path).unwrap();
    match how {
        "garbage" => world
            .write("state/state.db", b"no database at all, and longer than its head of a hundred bytes: ".repeat(99)),
        "its first half" => world.write("state/state.db", &bytes[..bytes.len() / 2]),
        "a page overwritten" => {
            let mut bytes = bytes;
            bytes[4096..].iter_mut().step_by(3).for_each(|byte| *byte ^= 0x55);
            world.write("state/state.db", bytes);
        }
        "a row that is no JSON" => {
            database().execute_batch("UPDATE session SET engine = substr(engine, 1, 20)").unwrap()
        }
        _ => database().execute_batch("DELETE FROM limit_set").unwrap(),
    }
}

/// Whether an answer that is an error says all of it.
fn tells(said: &Outcome) -> bool {
    let text = said.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let happened = text.contains("is damaged");
    let todo = text.contains("start a client") || text.contains("move it away");
    happened && todo && text.contains("counted again from their transcripts") && text.contains("are lost")
}

#[test]
fn a_damaged_state_is_told_with_what_is_lost_and_what_to_do() {
    let mut failed = 0;
    for how in DAMAGES {
        let world = with_shop();
        let _closed =
            Connection::open(world.path("state/state.db")).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        damage(&world, how);
        let told = |command: &[&str]| world.run(command);
        for command in [
            &["report", "--since", "all"][..],
            &["status"],
            &["log", "--since", "all"],
            &["explain"],
            &["doctor"],
            &["metrics"],
        ] {
            let said = told(command);
            let is_bad = said.code != 0 && (command != ["doctor"] || said.stdout.contains("state"));
            failed += u32::from(is_bad && tells(&said));
            let other = ["no such session", "has not tripped", "nothing has"];
            let is_other = other.iter().any(|words| said.to_string().contains(words))
                || command == ["doctor"] && !said.stdout.contains("is damaged");
            assert!(!is_bad || is_other || tells(&said), "{how}, {command:?}: {said}");
        }
        // What is advised does: a client starts, and all can be read again.
        let start = world.event("s9", "p1", "SessionStart", &json!({"source": "startup"}));
        world.hook(start).ok();
        let prompt = world.event("5f0c1d2e-0000", "p1", "UserPromptSubmit", &json!({"prompt": "go"}));
        let _told = world.hook(prompt);
        let said = world.run(&["report", "--since", "all"]);
        assert_eq!(said.code, 0, "{how}: {said}");
    }
    assert!(failed >= 10, "{failed}");
}
