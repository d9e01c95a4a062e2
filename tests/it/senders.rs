//! An event is a session's where its client has sent it. Whoever else runs the program with an event of that session changes nothing
//! in it, and the person is told.
//!
//! A shell stands for the client. Each way to send an event is tried with each event that would change something.

use std::fs;

use serde_json::{Value, json};

use crate::state::load;
use crate::world::{FUSEBOX, TestWorld};

/// The events: each by what it says beside its name.
fn events() -> Vec<(&'static str, Value)> {
    let call = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "t9"});
    let mut ended = call.clone();
    ended["tool_response"] = json!("done");
    vec![
        ("UserPromptSubmit", json!({"prompt": "more", "prompt_id": "p-forged"})),
        ("PreToolUse", call),
        ("PostToolUse", ended),
        ("SessionEnd", json!({"reason": "other"})),
        ("SessionStart", json!({"source": "resume"})),
        ("SubagentStart", json!({"agent_id": "a1", "agent_type": "developer"})),
    ]
}

/// Ways in which an agent sends an event. The client runs a tool's command in a shell whose line ends in `TAIL`.
const TAIL: &str = "&& pwd -P >| /dev/null";
/// What is left behind waits until those that have started it are gone, and the client until it is done.
const ALONE: &str = "until [ -e left ]; do :; done";
const LEFT: &str = "touch left; until [ -e over ]; do :; done";
const FORGED: [&str; 10] = [
    "sh -c 'HOOK < EVENT TAIL'",
    "sh -c 'cat EVENT | HOOK TAIL'",
    "sh -c 'CLAUDE_CODE_SESSION_ATTENDED=1 nice HOOK < EVENT TAIL'",
    "sh -c 'sh -c \"HOOK < EVENT; true\" TAIL'",
    "sh -c './sends HOOK TAIL'",
    // It calls itself a client.
    "sh -c 'perl -e \"\\$ENV{CLAUDE_PID}=\\$\\$; system(q(HOOK < EVENT))\" TAIL'",
    // Left behind, as a process of nobody's.
    "sh -c '(setsid -f sh -c \"ALONE; HOOK < EVENT; touch over\") TAIL'; LEFT",
    "sh -c '(setsid -f env -i PATH=$PATH FUSEBOX_HOME=$FUSEBOX_HOME HOME=$HOME sh -c \"ALONE; HOOK < EVENT; touch over\") TAIL'; LEFT",
    // So, and it calls itself a client.
    "sh -c '(setsid -f env -i PATH=$PATH FUSEBOX_HOME=$FUSEBOX_HOME HOME=$HOME sh -c \"ALONE; CLAUDE_PID=\\$\\$ HOOK < EVENT; touch over\") TAIL'; LEFT",
    // In a hook of the agent's own, or a server that the client has started.
    "sh -c './sends; true'",
];
/// Ways in which a client runs a handler.
const GENUINE: [&str; 4] = [
    "HOOK < EVENT",
    "sh -c 'HOOK; true' < EVENT",
    "cat EVENT | sh -c 'env X=1 sh -c \"HOOK; true\"; true'",
    "sh -c 'command -v HOOK >/dev/null; nice HOOK || true' < EVENT",
];

/// What the session looks like.
fn picture(world: &TestWorld) -> String {
    let (session, runs) = load(world, "s1");
    let runs: Vec<String> = runs.iter().map(|run| format!("{} {:?} {:?}", run.id, run.status, run.counters)).collect();
    format!("{:?} {:?} {:?} {} {runs:?}", session.status, session.counters, session.client, session.is_over)
}

/// Has a client send an event in a way; returns what the session looks like before and after it, and the world.
fn sent(way: &str, event: (&str, &Value)) -> (String, String, TestWorld) {
    let world = TestWorld::new();
    let input = |name: &str, rest: &Value| {
        let mut input = json!({"session_id": "s1", "transcript_path": world.path("s1.jsonl"), "cwd": world.path("project"),
            "prompt_id": "p1", "hook_event_name": name});
        input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        input.to_string()
    };
    world.write("project/start.json", input("SessionStart", &json!({"source": "startup"})));
    world.write("project/prompt.json", input("UserPromptSubmit", &json!({"prompt": "go"})));
    world.write("project/event.json", input(event.0, event.1));
    let hook = format!("{FUSEBOX} hook");
    world.script("project/sends", &format!("{hook} < event.json; true"));
    let way = way.replace("HOOK", &hook).replace("EVENT", "event.json").replace("TAIL", TAIL);
    let way = way.replace("ALONE", ALONE).replace("LEFT", LEFT);
    let begins = format!(
        "export CLAUDE_PID=$$; {hook} < start.json; {hook} < prompt.json; cp -r $FUSEBOX_HOME before\n{way}; true"
    );
    world.script("project/client", &begins);
    world.program(&world.path("project/client").to_string_lossy(), &[]).run().ok();
    let after = picture(&world);
    fs::rename(world.path("state"), world.path("after")).unwrap();
    fs::rename(world.path("project/before"), world.path("state")).unwrap();
    let before = picture(&world);
    fs::remove_dir_all(world.path("state")).unwrap();
    fs::rename(world.path("after"), world.path("state")).unwrap();
    (before, after, world)
}

#[test]
fn an_event_that_no_client_has_sent_changes_nothing_and_is_told() {
    let mut wrong = Vec::new();
    for way in FORGED {
        for (name, rest) in events() {
            let (before, after, world) = sent(way, (name, &rest));
            let told = load(&world, "s1").0.user_notifications.join("\n");
            if before != after || !told.contains("that its client did not send") {
                wrong.push(format!("{name} by {way}: {before}\n -> {after}\n told {told}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_event_that_a_client_has_sent_is_taken() {
    for way in GENUINE {
        for (name, rest) in events() {
            let (before, after, world) = sent(way, (name, &rest));
            let told = load(&world, "s1").0.user_notifications.join("\n");
            assert!(!told.contains("did not send"), "{name} by {way}: {told}");
            assert!(before != after || name == "SessionStart", "{name} by {way}: {before}");
        }
    }
}
