//! A client in namespaces of its own is the session's whose agent started it: each namespace, each pair of them, with and without
//! a /proc of its own, is counted in that session and bound by its limit.

use std::process::Command;

use fusebox::platform::environment::Environment;
use serde_json::json;

use crate::state::load;
use crate::world::{FUSEBOX, TestWorld};

/// What `unshare` is told for each namespace; those of processes and of time are for what it starts.
const NAMESPACES: [&str; 5] = ["-p", "-T --boottime 9999999 --monotonic 9999999", "-U", "-r", "-m"];
/// How the options go on.
const MORE: [&str; 3] = ["", "--fork", "--fork --mount-proc"];

/// How many calls the session may make.
const CALLS: u64 = 3;

/// How much a nested client's environment tells.
const TELLING: [&str; 2] = ["CLAUDE_CODE_SESSION_ID=s1", "-u CLAUDE_CODE_SESSION_ID"];

/// Returns the options of each namespace alone and of each two of them.
fn ways() -> Vec<String> {
    let pairs = NAMESPACES.iter().enumerate().flat_map(|(at, one)| {
        let others = NAMESPACES[at + 1..].iter().map(move |other| format!("{one} {other}"));
        std::iter::once((*one).to_owned()).chain(others)
    });
    let all = pairs.flat_map(|pair| MORE.map(|more| format!("{pair} {more}")));
    // A namespace of processes begins with what is forked, and alone may have a /proc of its own.
    all.filter(|way| if way.contains("-p ") { way.contains("--fork") } else { !way.contains("--mount-proc") }).collect()
}

/// Has a session's client start another one in this way; returns what the hooks of that one answered.
fn nests(world: &TestWorld, way: &str, telling: &str) -> String {
    let input = |session: &str, name: &str, rest: serde_json::Value| {
        let event = world.event(session, &format!("p-{session}"), name, &rest);
        world.write(&format!("project/{session}-{name}.json"), event.to_string());
    };
    for session in ["s1", "s2"] {
        input(session, "SessionStart", json!({"source": "startup"}));
        input(session, "UserPromptSubmit", json!({"prompt": "go"}));
    }
    for session in ["s1", "s2"] {
        input(session, "PreToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "@id@"}));
    }
    let client = format!(
        "call() {{ sed s/@id@/$2/ $1-PreToolUse.json | CLAUDE_PID=$$ {FUSEBOX} hook; }}\n\
         for name in SessionStart UserPromptSubmit; do CLAUDE_PID=$$ {FUSEBOX} hook <$1-$name.json; done\n"
    );
    world.script("project/starts", &format!("{client}call $1 own; shift; \"$@\"; true"));
    world.script("project/works", &format!("{client}for id in 1 2 3 4; do call $1 $id; done"));
    let script = format!("./starts s1 env {telling} unshare {way} ./works s2");
    world.program("/bin/sh", &["-c", &script]).run().to_string()
}

#[test]
fn a_client_in_namespaces_of_its_own_is_bound_by_the_session_that_started_it() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (way, telling) in ways().iter().flat_map(|way| TELLING.map(|telling| (way, telling))) {
        // Without the session's name nothing of it is seen through a /proc of its own.
        if telling.starts_with("-u") && way.contains("--mount-proc") {
            continue;
        }
        let words: Vec<&str> = way.split_whitespace().chain(["true"]).collect();
        if !Command::new("unshare").args(words).output().unwrap().status.success() {
            Environment::real().eprintln_safe(&format!("not tried: the system does not allow `unshare {way}`"));
            continue;
        }
        tried += 1;
        let world = TestWorld::new();
        let limits = json!({"max_turns": CALLS, "warn_at": [], "grace_turns": 0, "timeout_action": "terminate"});
        world.write("home/.claude/fusebox.json", json!({"session": limits}).to_string());
        let said = nests(&world, way, telling);
        let of = load(&world, "s2").0.outer;
        let turns = load(&world, "s1").0.counters.turns;
        let is_bound = said.contains("of the session that started this one 3/3 (max_turns");
        if of.as_deref() != Some("s1") || turns != CALLS || !is_bound {
            wrong.push(format!("{telling} unshare {way}: of {of:?}, {turns} calls: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {tried} ways:\n{}", wrong.len(), wrong.join("\n"));
}
