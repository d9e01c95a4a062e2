//! While the state cannot be read or written, no run goes on past one request, by any way on; nor past a cap where it fails at
//! some events alone.

mod client;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread;

use fusebox::wire::events::{EVENTS, EventName};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::failing::client::{ALL, Answerer, Client, WAYS, Way};
use crate::world::{TestWorld, in_long_form};

/// The model requests that a run may make.
const CAP: usize = 3;

/// Makes the state fail; what it returns is held as long as that lasts.
type Break = fn(&TestWorld) -> Option<Connection>;

fn aside(world: &TestWorld, place: &str) {
    fs::rename(world.path(place), world.path("aside")).unwrap();
}

/// Puts a file in the place of the state's folder.
pub fn in_its_place(world: &TestWorld) {
    aside(world, "state");
    world.write("state", "no folder");
}

fn database(world: &TestWorld) -> Connection {
    Connection::open(world.path("state/state.db")).unwrap()
}

fn write(world: &TestWorld, statements: &str) -> Option<Connection> {
    database(world).execute_batch(statements).unwrap();
    None
}

/// What can be wrong with the state for as long as nobody mends it.
const BROKEN: [(&str, Break); 11] = [
    ("a file in its place", |world| {
        in_its_place(world);
        None
    }),
    ("a link to another folder", |world| {
        aside(world, "state");
        fs::create_dir(world.path("other")).unwrap();
        symlink(world.path("other"), world.path("state")).unwrap();
        None
    }),
    ("a link to nothing", |world| {
        aside(world, "state");
        symlink(world.path("none"), world.path("state")).unwrap();
        None
    }),
    ("no folder of locks", |world| {
        aside(world, "state/locks");
        world.write("state/locks", "");
        None
    }),
    ("a folder as database", |world| {
        aside(world, "state/state.db");
        fs::create_dir(world.path("state/state.db")).unwrap();
        None
    }),
    ("a database with a second name", |world| {
        fs::hard_link(world.path("state/state.db"), world.path("second")).unwrap();
        None
    }),
    ("a pipe as journal", |world| {
        let path = world.path("state/state.db-journal");
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        None
    }),
    ("a newer version's", |world| write(world, "PRAGMA user_version=1001")),
    ("a newer version's, with a table of its own", |world| {
        write(world, "PRAGMA user_version=299; DROP TABLE session; CREATE TABLE other (id)")
    }),
    ("a session of another form", |world| {
        write(world, "UPDATE session SET engine = '{\"started\": true}' WHERE id = 's1'")
    }),
    ("a transaction that does not end", |world| {
        let held = database(world);
        held.execute_batch("BEGIN EXCLUSIVE").unwrap();
        Some(held)
    }),
];

/// Those at which the agent would go on with words or with calls that no hook was asked about.
const ENDS: [&str; 3] = ["PostToolBatch", "SubagentStop", "Stop"];

/// Plays a way in a world of its own; returns the requests of each run.
fn played(way: Way, fails_at: &[&str], answerer: Answerer, breaks: Option<Break>) -> BTreeMap<&'static str, usize> {
    let world = TestWorld::new();
    let limits = json!({"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate", "max_denials": null,
        "loop_detection": false});
    let limits = match breaks {
        Some(_) => json!({}),
        None => json!({"main": limits, "agents": {"*": limits}}),
    };
    world.write("home/.claude/fusebox.json", limits.to_string());
    let mut client = Client::new(&world, fails_at, answerer);
    client.plays(way, || breaks.and_then(|breaks| breaks(&world)));
    client.requests
}

/// Runs the cases side by side, and says what broke.
fn try_side_by_side<C: Send + 'static>(cases: Vec<C>, law: fn(C) -> Option<String>) {
    let mut broken = Vec::new();
    let mut cases = cases.into_iter().peekable();
    while cases.peek().is_some() {
        let some: Vec<_> = cases.by_ref().take(32).map(|case| thread::spawn(move || law(case))).collect();
        broken.extend(some.into_iter().filter_map(|case| case.join().unwrap()));
    }
    assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn while_the_state_fails_no_run_goes_on_past_one_request() {
    let mut cases: Vec<(Way, usize)> =
        WAYS.into_iter().flat_map(|way| (0..=BROKEN.len()).map(move |how| (way, how))).collect();
    if !in_long_form() {
        // The short form tries each pair of three: each way, and each kind of failing.
        cases.retain(|(way, how)| *how == BROKEN.len() || *how == 0 || (*way as usize + how).is_multiple_of(3));
    }
    try_side_by_side(cases, |(way, how)| {
        let (what, requests) = match BROKEN.get(how) {
            Some((what, breaks)) => (*what, played(way, &ALL, Answerer::Hook, Some(*breaks))),
            None => ("an answer that is late", played(way, &ALL, Answerer::Late, Some(|_| None))),
        };
        // The first one was made before.
        let past = |run: &str| if run == "main" { 2 } else { 1 };
        let over: Vec<_> = requests.iter().filter(|(run, made)| **made > past(run)).collect();
        (!over.is_empty()).then(|| format!("{way:?}, {what}: {over:?}"))
    });
}

#[test]
fn a_cap_holds_where_the_state_fails_at_some_events_alone() {
    let all: usize = (1 << ALL.len()) - 1;
    // A person's prompt begins a run of its own.
    let ways = WAYS.into_iter().filter(|way| *way != Way::Prompts);
    let mut cases: Vec<(Way, usize, bool)> =
        ways.flat_map(|way| (0..all).flat_map(move |set| [(way, set, false), (way, set, true)])).collect();
    if !in_long_form() {
        // The short form tries where it fails at one event, at all others, and at the ends of batches and turns.
        let at_ends: usize =
            ALL.iter().enumerate().filter(|(_, name)| ENDS.contains(name)).map(|(at, _)| 1 << at).sum();
        cases.retain(|(way, set, is_late)| {
            let is_one = set.is_power_of_two() || (all - set).is_power_of_two() || *set == at_ends;
            is_one && *is_late == (*way as usize + set).is_multiple_of(2)
        });
    }
    try_side_by_side(cases, |(way, set, is_late)| {
        let at: Vec<&str> =
            ALL.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1).map(|(_, name)| *name).collect();
        let requests = played(way, &at, if is_late { Answerer::Late } else { Answerer::Hook }, None);
        let over: Vec<_> = requests.iter().filter(|(_, made)| **made > CAP + 1).collect();
        (!over.is_empty()).then(|| format!("{way:?}, failing at {at:?}, late {is_late}: {over:?}"))
    });
}

/// Returns how an event is answered where nobody can go on after it: `true` where the client obeys.
fn is_held(name: EventName, answer: &Value) -> bool {
    match name {
        EventName::PreToolUse => answer["hookSpecificOutput"]["permissionDecision"] == "deny",
        EventName::UserPromptSubmit | EventName::PreCompact | EventName::ConfigChange => answer["decision"] == "block",
        EventName::PostToolBatch | EventName::Stop | EventName::SubagentStop => answer["continue"] == false,
        EventName::SessionStart => answer["systemMessage"].is_string(),
        // Nothing that is answered to these holds anything, and the person is told at those.
        _ => *answer == json!({}),
    }
}

#[test]
fn every_event_is_held_while_the_state_fails_and_the_reason_says_what_to_do() {
    // Each hook waits for a transaction: the long form has the time.
    let some = if in_long_form() { BROKEN.len() } else { BROKEN.len() - 1 };
    for (what, breaks) in BROKEN.into_iter().take(some) {
        let world = TestWorld::new();
        let mut client = Client::new(&world, &[], Answerer::Hook);
        client.event("main", "SessionStart", json!({"source": "startup"}));
        let _held = breaks(&world);
        for row in &EVENTS {
            let refused = json!([{"tool_name": "Read", "tool_use_id": "t1", "tool_response": "<tool_use_error>no</tool_use_error>"}]);
            let more = json!({"source": "startup", "prompt": "go on", "tool_name": "Read", "tool_input": {}, "tool_use_id": "t1",
                "tool_calls": refused});
            let answer = client.event("main", row.name, more);
            assert!(is_held(row.event, &answer), "{what}, at {}: {answer}", row.name);
            let reason = answer.to_string();
            let is_newer = reason.contains("a newer version of fusebox has written the state");
            assert_eq!(is_newer, what.starts_with("a newer") && answer != json!({}), "{reason}");
            let next = format!(
                "where none was, move `{}` away",
                world.normalized(&world.path("state/state.db").display().to_string())
            );
            assert!(!is_newer || reason.contains(&next), "{reason}");
        }
    }
}
