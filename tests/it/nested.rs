//! A client that an agent starts is bound by the agent's session, and charged to it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use fusebox::domain::session::{Session, Status};
use fusebox::domain::text::rfc3339;
use fusebox::platform::environment::Environment;
use serde_json::json;

use crate::state::{load, save};
use crate::world::TestWorld;

/// What one response of these tests costs is 0.00584 USD.
const USAGE: &str =
    r#"{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000}"#;

/// Processes one below the other, which stand for clients: a shell for each but the last.
pub struct Processes {
    first: Child,
    pub pids: Vec<u32>,
}

impl Processes {
    pub fn start() -> Processes {
        let script = r#"echo $$; sh -c 'echo $$; sh -c "echo \$\$; cat >/dev/null"; true'; true"#;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut first = command.spawn().unwrap();
        let lines = BufReader::new(first.stdout.take().unwrap()).lines();
        let pids = lines.take(3).map(|line| line.unwrap().parse().unwrap()).collect();
        Processes { first, pids }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // They all end at the end of their input.
        drop(self.first.stdin.take());
        let _ended = self.first.wait();
    }
}

/// Sends an event of a session's client.
pub fn event(world: &TestWorld, client: u32, session: &str, name: &str, rest: &serde_json::Value) -> String {
    let input = world.event(session, &format!("p-{session}"), name, rest);
    world.command(&["hook"]).env("CLAUDE_PID", &client.to_string()).stdin(input).run().ok()
}

pub fn start(world: &TestWorld, client: u32, session: &str) {
    event(world, client, session, "SessionStart", &json!({"source": "startup"}));
    event(world, client, session, "UserPromptSubmit", &json!({"prompt": "go"}));
}

pub fn call(world: &TestWorld, client: u32, session: &str, id: &str) -> String {
    let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": id});
    event(world, client, session, "PreToolUse", &call)
}

fn outer(world: &TestWorld, session: &str) -> Option<String> {
    load(world, session).0.outer
}

fn with_limits(session: &serde_json::Value) -> TestWorld {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", json!({"session": session}).to_string());
    world
}

#[test]
fn a_nested_client_is_charged_to_the_first_session_and_bound_by_it() {
    let world = with_limits(&json!({"max_turns": 4, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"}));
    let processes = Processes::start();
    let [first, below, deepest] = processes.pids[..] else { return };
    start(&world, first, "s1");
    assert_eq!(call(&world, first, "s1", "t1"), "");
    start(&world, below, "s2");
    start(&world, deepest, "s3");
    assert_eq!(outer(&world, "s1"), None);
    assert_eq!([outer(&world, "s2"), outer(&world, "s3")], [Some("s1".to_owned()), Some("s1".to_owned())]);
    assert_eq!(call(&world, below, "s2", "t2"), "");
    assert_eq!(call(&world, deepest, "s3", "t3"), "");
    assert_eq!(call(&world, below, "s2", "t4"), "");
    assert_eq!(load(&world, "s1").0.counters.turns, 4);
    let refused = call(&world, deepest, "s3", "t5");
    assert!(refused.contains("of the session that started this one 4/4 (max_turns"), "{refused}");
    assert_eq!(load(&world, "s1").0.status, Status::Failed);
    // The order stands for all of them.
    for (client, session) in [(first, "s1"), (below, "s2")] {
        let answer = call(&world, client, session, "t6");
        assert!(answer.contains(r#""continue":false"#), "{answer}");
    }
    let prompt = event(&world, below, "s2", "UserPromptSubmit", &json!({"prompt": "more", "prompt_id": "p-more"}));
    assert!(prompt.contains("the session above is used up"), "{prompt}");
    assert!(prompt.contains("fusebox grant s1 max_turns=+"), "{prompt}");
}

#[test]
fn what_holds_the_first_session_holds_a_nested_one_until_it_is_lifted() {
    let world = with_limits(&json!({"max_turns": 100}));
    let processes = Processes::start();
    let [first, below, _] = processes.pids[..] else { return };
    start(&world, first, "s1");
    start(&world, below, "s2");
    for (command, number) in [("pause", 1), ("stop", 2)] {
        assert_eq!(call(&world, below, "s2", &format!("t{number}")), "");
        world.run(&[command, "s1"]).ok();
        assert!(call(&world, below, "s2", &format!("u{number}")).contains(r#""deny""#));
        world.run(&["resume", "s1"]).ok();
        let prompt = event(&world, below, "s2", "UserPromptSubmit", &json!({"prompt": "x", "prompt_id": command}));
        assert!(!prompt.contains("block"), "{prompt}");
    }
    assert_eq!(call(&world, below, "s2", "t3"), "");
}

#[test]
fn each_session_on_the_way_up_is_charged_and_binds() {
    let world = TestWorld::new();
    let file = |turns: u64| {
        let policy =
            json!({"session": {"max_turns": turns, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"}});
        world.write("home/.claude/fusebox.json", policy.to_string());
    };
    let processes = Processes::start();
    let [first, below, deepest] = processes.pids[..] else { return };
    file(100);
    start(&world, first, "s1");
    start(&world, below, "s2");
    // The one in the middle is held to less than the others.
    save(&world, |store| {
        let mut middle = store.session("s2").unwrap().unwrap();
        middle.limits.limits.iter_mut().filter(|rule| rule.name() == "max_turns").for_each(|rule| rule.cap = 3);
        store.save_session(&middle).unwrap();
    });
    start(&world, deepest, "s3");
    assert_eq!(load(&world, "s3").0.between, ["s2"]);
    assert_eq!(call(&world, below, "s2", "t1"), "");
    assert_eq!(call(&world, deepest, "s3", "t2"), "");
    assert_eq!(call(&world, deepest, "s3", "t3"), "");
    let turns = |session: &str| load(&world, session).0.counters.turns;
    assert_eq!(["s1", "s2", "s3"].map(turns), [3, 3, 2]);
    let refused = call(&world, deepest, "s3", "t4");
    assert!(refused.contains("of the session that started this one 3/3 (max_turns"), "{refused}");
    // The order is the middle one's: it ends there and below, and not above.
    assert_eq!(["s1", "s2", "s3"].map(|session| load(&world, session).0.order.is_some()), [false, true, false]);
    assert!(call(&world, below, "s2", "t5").contains(r#""continue":false"#));
    assert_eq!(call(&world, first, "s1", "t6"), "");
    let prompt = event(&world, deepest, "s3", "UserPromptSubmit", &json!({"prompt": "more", "prompt_id": "p-more"}));
    assert!(prompt.contains("fusebox grant s2 max_turns=+"), "{prompt}");
}

#[test]
fn after_a_reboot_the_same_process_id_and_start_are_another_client() {
    let world = with_limits(&json!({"max_turns": 100}));
    let processes = Processes::start();
    let [first, below, _] = processes.pids[..] else { return };
    start(&world, first, "s1");
    // As it would be found in the next boot: what is known is of the one before.
    save(&world, |store| {
        for (name, fact) in store.some_metadata("client:", "", 1000).unwrap() {
            store.delete_metadata(&format!("client:{name}")).unwrap();
            let parts: Vec<&str> = name.split(':').collect();
            store.set_metadata(&format!("client:{}:{}:1:{}", parts[0], parts[1], parts[3]), &fact).unwrap();
        }
        let mut before = store.session("s1").unwrap().unwrap();
        before.last.boot = 1;
        store.save_session(&before).unwrap();
    });
    start(&world, below, "s2");
    assert_eq!(outer(&world, "s2"), None);
}

#[test]
fn a_client_in_the_background_is_the_sessions_that_launched_it() {
    let world = with_limits(&json!({"max_turns": 100}));
    let processes = Processes::start();
    start(&world, processes.pids[0], "s1");
    let apart = Processes::start();
    let begins = |session: &str, names: &str| {
        let input = json!({"session_id": session, "transcript_path": world.path(&format!("{session}.jsonl")),
            "cwd": world.path("project"), "hook_event_name": "SessionStart", "source": "startup"});
        let hook = world.command(&["hook"]).env("CLAUDE_PID", &apart.pids[0].to_string()).stdin(input);
        hook.env("CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", names).run().ok();
        outer(&world, session)
    };
    assert_eq!(begins("b", "unknown"), None);
    assert_eq!(begins("b2", "s1"), Some("s1".to_owned()));
}

#[test]
fn what_a_nested_client_spends_is_the_first_sessions_too() {
    let world =
        with_limits(&json!({"max_cost_usd": 0.02, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"}));
    let processes = Processes::start();
    start(&world, processes.pids[0], "s1");
    start(&world, processes.pids[1], "s2");
    let mut rows = String::new();
    let mut made = 0;
    for number in 1..10 {
        let message = format!(r#"{{"id":"m{number}","model":"claude-opus-5-5","usage":{USAGE}}}"#);
        let time = rfc3339::format(Environment::real().now().wall_ms);
        rows += &format!("{{\"type\":\"assistant\",\"timestamp\":\"{time}\",\"message\":{message}}}\n");
        world.write("s2.jsonl", &rows);
        made = number;
        let calls =
            json!({"tool_calls": [{"tool_name": "Read", "tool_input": {}, "tool_use_id": format!("t{number}")}]});
        if event(&world, processes.pids[1], "s2", "PostToolBatch", &calls).contains(r#""continue":false"#) {
            break;
        }
    }
    let spent = load(&world, "s1").0.counters.spent;
    // The first session's own request is in flight all the time, and taken for one like these.
    assert_eq!((made, spent.requests), (2, 2));
    assert_eq!(spent, load(&world, "s2").0.counters.spent);
    let later = event(&world, processes.pids[0], "s1", "UserPromptSubmit", &json!({"prompt": "x", "prompt_id": "p2"}));
    assert!(later.contains("this session has no room"), "{later}");
}

#[test]
fn a_client_that_goes_on_to_another_session_is_not_nested_in_its_own() {
    let world = with_limits(&json!({"max_turns": 100}));
    let processes = Processes::start();
    let [first, below, _] = processes.pids[..] else { return };
    start(&world, first, "s1");
    event(&world, first, "s2", "SessionStart", &json!({"source": "clear"}));
    assert_eq!(outer(&world, "s2"), None);
    // A nested client stays nested when it begins anew; and it is nested in what its parent works on now.
    start(&world, below, "s3");
    event(&world, below, "s4", "SessionStart", &json!({"source": "clear"}));
    assert_eq!([outer(&world, "s3"), outer(&world, "s4")], [Some("s2".to_owned()), Some("s2".to_owned())]);
    // A person who takes a nested session up again pays for it there.
    event(&world, first, "s3", "SessionStart", &json!({"source": "resume"}));
    assert_eq!(outer(&world, "s3"), None);
}

#[test]
fn a_first_session_that_was_pruned_binds_nobody_and_one_that_has_ended_still_does() {
    let world = with_limits(&json!({"max_turns": 2, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"}));
    let processes = Processes::start();
    let [first, below, _] = processes.pids[..] else { return };
    start(&world, first, "s1");
    start(&world, below, "s2");
    event(&world, first, "s1", "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(call(&world, below, "s2", "t1"), "");
    assert_eq!(load(&world, "s1").0.counters.turns, 1);
    save(&world, |store| {
        let session = store.session("s2").unwrap().unwrap();
        let closed_ms = session.started.wall_ms + 1;
        store.save_session(&Session { outer: Some("gone".to_owned()), ..*session }).unwrap();
        store.set_metadata("closed", &closed_ms.to_string()).unwrap();
    });
    assert_eq!(call(&world, below, "s2", "t2"), "");
    assert_eq!(load(&world, "s1").0.counters.turns, 1);
}

/// A process outside of every client's tree that carries a session's name, as what an agent has left behind does.
struct LeftBehind(Child);

impl LeftBehind {
    fn by(session: &str) -> LeftBehind {
        let mut command = Command::new("/bin/cat");
        command.env("CLAUDE_CODE_SESSION_ID", session).stdin(Stdio::piped()).stdout(Stdio::null());
        LeftBehind(command.spawn().unwrap())
    }
}

impl Drop for LeftBehind {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

/// Starts a session in a client that was left behind; returns whose it is.
fn begins(world: &TestWorld, client: &LeftBehind, session: &str, attended: &str) -> Option<String> {
    let input = json!({"session_id": session, "transcript_path": world.path(&format!("{session}.jsonl")),
        "cwd": world.path("project"), "hook_event_name": "SessionStart", "source": "startup"});
    let hook = world.command(&["hook"]).env("CLAUDE_PID", &client.0.id().to_string()).stdin(input);
    hook.env("CLAUDE_CODE_SESSION_ATTENDED", attended).run().ok();
    outer(world, session)
}

/// Starts a session in a client of its own that was left behind by `above`.
fn comes_from(world: &TestWorld, above: &str, session: &str, attended: &str) -> Option<String> {
    begins(world, &LeftBehind::by(above), session, attended)
}

/// Dates the last event of a session back.
fn was_last_seen(world: &TestWorld, session: &str, hours_ago: i64) {
    save(world, |store| {
        let mut found = store.session(session).unwrap().unwrap();
        found.last.wall_ms -= hours_ago * 3_600_000;
        found.last.mono_ms = found.last.mono_ms.saturating_sub(hours_ago as u64 * 3_600_000);
        found.last.boot = if hours_ago > 0 { 0 } else { found.last.boot };
        store.save_session(&found).unwrap();
    });
}

#[test]
fn a_client_left_behind_is_the_sessions_while_that_works_and_for_a_day_where_nobody_attends_to_it() {
    let world = with_limits(&json!({"max_turns": 100}));
    let s1 = Some("s1".to_owned());
    let processes = Processes::start();
    let first = processes.pids[0];
    start(&world, first, "s1");
    assert_eq!([comes_from(&world, "s1", "a", "1"), comes_from(&world, "s1", "b", "0")], [s1.clone(), s1.clone()]);
    // They wait for the session's end.
    let [attended, waits, waits_on, lives_long] = std::array::from_fn(|_| LeftBehind::by("s1"));
    event(&world, first, "s1", "SessionEnd", &json!({"reason": "other"}));
    assert_eq!([begins(&world, &attended, "c", "1"), begins(&world, &waits, "d", "0")], [None, s1.clone()]);
    world.write("home/.claude/fusebox.json", json!({"session": {"max_turns": 900}}).to_string());
    assert_eq!(begins(&world, &waits_on, "h", "0"), s1);
    assert_eq!(load(&world, "h").0.policy, load(&world, "s1").0.policy, "edits are for those that come from nobody");
    event(&world, waits.0.id(), "d", "UserPromptSubmit", &json!({"prompt": "go"}));
    assert_eq!(comes_from(&world, "d", "e", "0"), s1);
    // One that takes up itself, or the session that it comes from.
    assert_eq!([comes_from(&world, "d", "d", "0"), comes_from(&world, "d", "s1", "0")], [s1.clone(), None]);
    assert_eq!(begins(&world, &lives_long, "before-a-clear", "0"), s1);
    for (hours, session, expected) in [(23, "f", s1.clone()), (2, "g", None)] {
        was_last_seen(&world, "s1", hours);
        assert_eq!(comes_from(&world, "s1", session, "0"), expected, "{session}");
    }
    assert_eq!(begins(&world, &lives_long, "after-a-clear", "0"), s1);
    assert_eq!(comes_from(&world, "s1", "b", "0"), None, "a session that is taken up again later is its own");
}

/// When a process that names a session was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Began {
    Before,
    AtWork,
    Idle,
    After,
}

#[test]
fn a_session_that_a_client_names_is_charged_only_where_what_is_known_of_it_fits() {
    let folders = [("project", true), ("project/below", true), ("other", false), ("projects", false)];
    for (folder, (began, fits)) in folders.iter().flat_map(|folder| {
        let moments = [(Began::Before, false), (Began::AtWork, true), (Began::Idle, false), (Began::After, false)];
        moments.map(|moment| (folder, moment))
    }) {
        let world = with_limits(&json!({"max_turns": 100}));
        std::fs::create_dir_all(world.path(folder.0)).unwrap();
        let processes = Processes::start();
        let first = processes.pids[0];
        let mut client = None;
        let mut begin = |now: Began| (now == began).then(|| client = Some(LeftBehind::by("s1")));
        begin(Began::Before);
        // A tick of the clock that the starts of processes are told in.
        waits_for_the_next_tick();
        start(&world, first, "s1");
        begin(Began::AtWork);
        event(&world, first, "s1", "Stop", &json!({}));
        waits_for_the_next_tick();
        begin(Began::Idle);
        if began == Began::After {
            event(&world, first, "s1", "SessionEnd", &json!({"reason": "other"}));
            waits_for_the_next_tick();
        }
        begin(Began::After);
        let client = client.unwrap();
        let input = json!({"session_id": "s2", "transcript_path": world.path("s2.jsonl"),
            "cwd": world.path(folder.0), "hook_event_name": "SessionStart", "source": "startup"});
        let hook = world.command(&["hook"]).env("CLAUDE_PID", &client.0.id().to_string()).stdin(input);
        hook.env("CLAUDE_CODE_SESSION_ATTENDED", "0").run().ok();
        let expected = (folder.1 && fits).then(|| "s1".to_owned());
        assert_eq!(outer(&world, "s2"), expected, "{folder:?} {began:?}");
        let told = event(&world, first, "s1", "UserPromptSubmit", &json!({"prompt": "x", "prompt_id": "p2"}));
        assert_eq!(told.contains("names it as its origin"), expected.is_some(), "{told}");
    }
}

/// Waits until a process that is started now is told apart from one that was started before.
fn waits_for_the_next_tick() {
    let started = || {
        let mut process = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let start = fusebox::platform::processes::parent_and_start(process.id()).unwrap().1;
        drop(process.stdin.take());
        process.wait().unwrap();
        start
    };
    let first = started();
    while started() < first + 3 {}
}
