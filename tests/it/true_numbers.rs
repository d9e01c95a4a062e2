//! The README's table of how true the numbers are: its commands give what it says.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::{FUSEBOX, TestWorld};

/// Returns the figure and the command of the table's row that begins like this.
fn row(beginning: &str) -> (String, String) {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let row = readme.lines().find(|line| line.starts_with(&format!("| {beginning}"))).unwrap();
    let (rest, command) = row.split_once(" | `").unwrap();
    let (_, figure) = rest.rsplit_once(" | ").unwrap();
    (figure.trim_end_matches(" USD").to_owned(), command.trim_end_matches("` |").to_owned())
}

/// Runs a command as somebody in a checkout does.
fn run(command: &str) -> String {
    let world = TestWorld::new();
    world.script("bin/fusebox", &format!("exec {FUSEBOX} \"$@\""));
    let line = format!("cd {} && {command}", env!("CARGO_MANIFEST_DIR"));
    let outcome = world.program("/bin/sh", &["-c", &line]).run();
    assert_eq!(outcome.code, 0, "{command}: {outcome}");
    outcome.stdout
}

#[test]
fn the_clients_totals_and_ours_of_the_recordings_are_as_the_readme_says() {
    let (clients, command) = row("17 recorded sessions");
    assert_eq!(run(&command), format!("{clients}\n"));

    let (ours, command) = row("Fusebox");
    let report: Value = serde_json::from_str(&run(&command)).unwrap();
    let days = report["days"].as_array().unwrap();
    assert_eq!(days.iter().map(|day| day["sessions"].as_u64().unwrap()).sum::<u64>(), 17);
    let sum: f64 = days.iter().map(|day| day["cost_usd"].as_str().unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!([&format!("{sum:.6}"), &ours], [&clients; 2]);
    assert_eq!(days.len(), 1, "the README says that it is one day");
}
