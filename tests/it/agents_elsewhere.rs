//! Subagents of the user's other sessions hold places of a limit over all of them for as long as they may be at work.

use fusebox::domain::moment::Moment;
use fusebox::domain::session::{Process, Session, Status};
use fusebox::platform::environment::Environment;
use serde_json::json;

use crate::corners::{call, policy};
use crate::report::orphans::Client;
use crate::state::{developer, main_run, save, session};
use crate::world::{FUSEBOX, TestWorld};

/// Lays another session with an agent at work, changed by `change`.
fn elsewhere(world: &TestWorld, now: Moment, change: impl FnOnce(&mut Session)) {
    let (mut main, mut worker) = (main_run("s1", "p1"), developer("s1", "a1", "p1"));
    (main.working, worker.working) = (true, true);
    (main.last, worker.last) = (now, now);
    let open = vec![main.id.clone(), worker.id.clone()];
    let mut session = Session { last: now, open, main: Some("p1".to_owned()), ..session("s1") };
    change(&mut session);
    worker.last = session.last;
    save(world, |store| {
        store.save_session(&session).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&worker).unwrap();
    });
}

/// Whether the only place for agents is taken for a session that asks for one.
fn is_taken(world: &TestWorld) -> bool {
    let asks = call("t1", "Agent", &json!({"prompt": "x", "subagent_type": "Explore"}));
    let events = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "go"})),
        ("PreToolUse", asks),
    ];
    let answers = events.map(|(name, rest)| world.hook(world.event("s2", "p1", name, &rest)).ok());
    answers[2].contains("deny")
}

/// A name, whether the place is taken, how the session differs, and a command that is given before.
type Case<'a> = (&'a str, bool, &'a dyn Fn(&mut Session), &'a [&'a str]);

#[test]
fn an_agent_elsewhere_holds_its_place_for_as_long_as_it_may_be_at_work() {
    let client = Client::start();
    let alive = client.process();
    let gone = Process { start: alive.start + 1, ..alive };
    let now = Environment::real().now();
    let ago = |minutes: i64| Moment { wall_ms: now.wall_ms - minutes * 60_000, ..now };
    let as_it_is = |_: &mut Session| {};
    let cases: [Case; 9] = [
        ("its client is not known", true, &as_it_is, &[]),
        ("its client is there", true, &|it| it.client = Some(alive), &[]),
        ("its client is gone", false, &|it| it.client = Some(gone), &[]),
        ("the machine was started anew", false, &|it| it.last.boot = now.boot + 1, &[]),
        ("it has ended", false, &|it| (it.is_over, it.status) = (true, Status::Completed), &[]),
        ("a person has stopped it", false, &as_it_is, &["stop", "s1"]),
        ("a person has paused it", true, &as_it_is, &["pause", "s1"]),
        ("nothing was heard for long, not long enough", true, &|it| it.last = ago(29), &[]),
        ("nothing was heard for half an hour", false, &|it| it.last = ago(31), &[]),
    ];
    for (name, expected, change, command) in cases {
        let world = TestWorld::new();
        policy(&world, &json!({"user": {"max_parallel_subagents": 1, "timeout_action": "terminate"}}));
        elsewhere(&world, now, change);
        if !command.is_empty() {
            world.run(command).ok();
        }
        assert_eq!(is_taken(&world), expected, "{name}");
    }
}

/// Git carries a file however deep it lies, and an agent makes such folders with one command. A hook that works for two seconds is killed.
#[test]
fn a_file_in_folders_without_end_is_read_past_in_time() {
    let world = TestWorld::new();
    let deep = format!("project/.claude/agents/{}x.md", "d/".repeat(1_200));
    world.write(&deep, "---\nname: x\ndescription: d\n---\nWork.\n");
    for (event, more) in [("SessionStart", json!({"source": "startup"})), ("UserPromptSubmit", json!({"prompt": "go"}))]
    {
        let input = world.event("s1", "p1", event, &more);
        let hook = world.program("/bin/sh", &["-c", "ulimit -t 2; exec \"$0\" hook", FUSEBOX]);
        let said = hook.stdin(input).run().ok();
        assert!(!said.contains("cannot"), "{event}: {said}");
    }
}
