//! Reports from outside: state in; text, JSON and CSV out.

use insta::assert_snapshot;

use crate::state::shop;
use crate::world::TestWorld;

#[test]
fn scratch() {
    let world = TestWorld::new();
    for args in [&["status"][..], &["report"], &["report", "--by", "day", "--json"], &["log"], &["status", "zz"]] {
        println!("{args:?}\n{}", world.run(args));
    }
    shop(&world);
    for args in [
        &["status"][..],
        &["status", "--all"],
        &["report", "--since", "all"],
        &["report", "--by", "agent", "--since", "all"],
        &["report", "--since", "all", "--csv"],
        &["report", "--since", "all", "--json"],
        &["log", "--since", "all"],
        &["explain", "2"],
        &["explain", "5f0c"],
        &["explain", "a"],
        &["log", "--json", "--since", "all"],
    ] {
        println!("$ {args:?}\n{}", world.run(args));
    }
    println!("{}", world.command(&["status"]).env("COLUMNS", "40").run());
    println!("{}", world.command(&["report", "--since", "all"]).env("COLUMNS", "50").run());
    assert_snapshot!("", @"");
}
