//! Levers from outside: what a person grants, resumes, pauses, stops and resets.

use insta::assert_snapshot;

use crate::state::{load, shop};
use crate::world::TestWorld;

#[test]
fn scratch() {
    let run = |world: &TestWorld, args: &[&str]| {
        println!("$ {args:?}\n{}", world.run(args));
    };
    let world = TestWorld::new();
    run(&world, &["pause"]);
    run(&world, &["pause", "x"]);
    shop(&world);
    for args in [
        &["grant", "a3fa", "max_turns=+10"][..],
        &["resume", "a3fa"],
        &["pause", "b7d1"],
        &["status"],
        &["resume", "b7d1"],
        &["stop", "--task", "7", "--reason", "wrong branch"],
        &["resume", "--task", "7"],
        &["pause", "5f0c"],
        &["status", "5f0c"],
        &["grant", "5f0c", "max_cost_usd=+1"],
        &["resume", "5f0c", "--grant", "max_cost_usd=+1"],
        &["reset", "a2d0"],
        &["reset", "5f0c"],
        &["grant", "a2d0"],
        &["grant", "max_turns=+1"],
        &["grant", "a2d0", "max_turns=3"],
        &["grant", "a2d0", "max_requests=3"],
        &["grant", "b7d1", "max_cost_usd=3"],
        &["grant", "a2d0", "max_tokens=+x"],
        &["log", "--since", "all"],
        &["explain", "5f0c"],
        &["grant", "--help"],
        &["pause", "--help"],
        &["report", "--by", "day"],
    ] {
        run(&world, args);
    }
    println!("{}", world.command(&["grant", "a3fa", "max_turns=+1"]).env("CLAUDECODE", "1").run());
    println!("{:?}", load(&world, "5f0c1d2e-0000").0.notices);
    assert_snapshot!("", @"");
}
