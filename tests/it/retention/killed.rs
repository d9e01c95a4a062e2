//! A pruning that is killed at any moment, or that others work beside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;

use fusebox::calendar::Zone;
use fusebox::domain::spend::meters::Spend;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use fusebox::upkeep::prune::{PruneJob, prune};

use crate::retention::{Past, ago, billed, many, write};
use crate::state::save;
use crate::world::TestWorld;

/// Starts the pruning that a hook begins.
fn begin(world: &TestWorld) -> std::process::Child {
    let mut command = Command::new(crate::world::FUSEBOX);
    command.args(["prune", "--automatic"]).env_clear().env("HOME", world.path("home"));
    command.env("FUSEBOX_HOME", world.path("state")).current_dir(world.path("project"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A world with sessions of which half may be resumed, and a pruning that a hook has asked for.
fn with_old_sessions() -> TestWorld {
    let world = TestWorld::new();
    let one = |number: i64| Past {
        days: 100 + number,
        project: "/srv/shop",
        has_transcript: number % 2 == 0,
        responses: many(),
    };
    write(&world, &(0..4).map(one).collect::<Vec<_>>());
    save(&world, |store| store.set_metadata("pruning", &format!("[{0},{0}]", ago(0))).unwrap());
    world
}

/// Checks that nothing is lost or doubled, and returns how much is left to prune.
fn left(world: &TestWorld, whole: Spend) -> usize {
    assert_eq!(billed(world), whole);
    let store = Store::open_for(&world.path("state"), None).unwrap();
    assert_eq!(store.faults().unwrap(), Vec::<String>::new());
    let sessions = store.sessions_since(i64::MIN).unwrap();
    sessions.len() - 2 + sessions.iter().map(|session| store.charges_of(&session.id).unwrap().len()).sum::<usize>()
}

#[test]
fn a_pruning_that_ends_after_any_step_leaves_a_sound_state_and_the_next_goes_on() {
    let world = with_old_sessions();
    let whole = billed(&world);
    let zone = &Zone::utc();
    let order = PruneJob { before_ms: ago(90), zone };
    let (mut steps, mut before) = (1, left(&world, whole));
    while before > 0 {
        let mut allowed = steps;
        let cut = catch_unwind(AssertUnwindSafe(|| {
            prune(&Environment::real(), &world.path("state"), order, || {
                allowed -= 1;
                assert!(allowed > 0, "cut off, as it is meant to be");
            })
        }));
        let after = left(&world, whole);
        assert!(cut.is_err() || after == 0, "{after} left");
        assert!(after <= before && steps < 100, "{after} left after {steps} steps");
        (steps, before) = (steps + 1, after);
    }
    assert!(steps > 5, "{steps} steps were all there was to cut off");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the moment to kill it at is a matter of time")]
fn a_killed_pruning_leaves_a_sound_state() {
    let world = with_old_sessions();
    let whole = billed(&world);
    for killed in 0..12 {
        let mut pruning = begin(&world);
        // Each time a little later: where it is cut off is up to the machine.
        std::thread::sleep(Duration::from_millis(killed * killed * 2));
        pruning.kill().unwrap();
        pruning.wait().unwrap();
        left(&world, whole);
    }
    assert!(begin(&world).wait().unwrap().success());
    assert_eq!(left(&world, whole), 0);
}

#[test]
fn hooks_and_reports_beside_a_pruning_lose_nothing() {
    let world = TestWorld::new();
    let one = |days| Past { days, project: "/srv/shop", has_transcript: false, responses: many() };
    write(&world, &(100..130).map(one).collect::<Vec<_>>());
    save(&world, |store| store.set_metadata("pruning", &format!("[{0},{0}]", ago(0))).unwrap());
    let whole = billed(&world);
    let mut pruning = begin(&world);
    let mut calls = 0;
    while pruning.try_wait().unwrap().is_none() && calls < 5000 {
        calls += 1;
        let call = format!(
            r#"{{"session_id":"live","transcript_path":"","cwd":"/p","prompt_id":"p1","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{{}},"tool_use_id":"t{calls}"}}"#
        );
        assert_eq!(world.hook(call).ok(), "");
    }
    assert!(pruning.wait().unwrap().success());
    let store = Store::open_for(&world.path("state"), None).unwrap();
    assert_eq!(store.session("live").unwrap().unwrap().counters.turns, calls);
    assert_eq!(store.sessions_since(i64::MIN).unwrap().len(), 1);
    drop(store);
    assert_eq!(billed(&world), whole);
    let report = |by| world.run(&["report", "--since", "all", "--by", by, "--csv"]).ok();
    assert!(report("project").contains(&format!(",{},", whole.requests)), "{}", report("project"));
}
