//! What stands on the hook's standard input, a call a line, with the state on disk: an answer that the client can take,
//! and each call counted once in a state that can be read.
//!
//! `fuzz/run` gives it a home and a state of its own. What a hook does once its answer is given is left out: it leaves its
//! database open for the end of its process to close.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use fusebox::domain::spend::amount::Amount;
use fusebox::domain::event::{Event, EventKind};
use fusebox::hook;
use fusebox::hook::deadline::Deadline;
use fusebox::platform::environment::Environment;
use fusebox::store::{self, Store};
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::input;
use fusebox::wire::read_event;
use fusebox::wire::replace_lone_surrogates::replace_lone_surrogates;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// As many calls of one input are made.
const MOST_CALLS: usize = 24;

/// All that the client reads in an answer.
const FIELDS: [&str; 7] =
    ["continue", "stopReason", "decision", "reason", "systemMessage", "hookSpecificOutput", "suppressOutput"];

fuzz_target!(|bytes: &[u8]| {
    let world = Environment::real();
    let state = PathBuf::from(world.var("FUSEBOX_HOME").unwrap());
    assert!(state.ends_with("fuzz-state"), "run this by fuzz/run: it would write into your own state");
    let _none_yet = fs::remove_dir_all(&state);
    let (mut named, mut counted) = (BTreeMap::new(), BTreeMap::<String, (u64, Amount)>::new());
    let (mut told_apart, mut prompt) = (true, None);
    for line in bytes.split(|byte| *byte == b'\n').take(MOST_CALLS) {
        let line = replace_lone_surrogates(line.to_vec());
        let Ok(input) = input::parse(&line) else { continue };
        let event = read_event::event(&input, world.now(), true, &Guard::default());
        told_apart &= *prompt.get_or_insert_with(|| event.prompt_id.clone()) == event.prompt_id;
        for call in calls_of(&event) {
            told_apart &= !call.is_empty();
            told_apart &=
                *named.entry((event.session.clone(), call)).or_insert_with(|| event.agent.clone()) == event.agent;
        }
        // Whatever happens twice is told twice.
        for _ in 0..2 {
            let mut folder = store::folder(&world).unwrap();
            let told = hook::respond(&world, &Deadline::never(), &input, &line, &mut folder, None).unwrap();
            sound(&input.hook_event_name, &told.answer);
        }
        let store = Store::open(&world).unwrap();
        let session = store.session(&event.session).unwrap().unwrap();
        let now = (session.counters.turns, session.counters.spent.cost);
        let before = counted.insert(event.session.clone(), now).unwrap_or_default();
        assert!(now.0 >= before.0 && now.1 >= before.1, "{now:?} after {before:?}");
        let most = named.keys().filter(|(session, _)| *session == event.session).count() as u64;
        // A call without an id or with another agent's is one more, and so may be one whose prompt has changed.
        assert!(!told_apart || session.counters.turns <= most, "{} of {most} calls", session.counters.turns);
    }
    let left: Vec<_> = fs::read_dir(&state).into_iter().flatten().flatten().map(|file| file.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("corrupt")), "{left:?}");
});

/// Whether the client can take an answer: nothing, or an object with fields that it knows, about the event at hand.
fn sound(event: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let answer: Value = serde_json::from_str(text).unwrap();
    assert!(answer.as_object().unwrap().keys().all(|field| FIELDS.contains(&field.as_str())), "{answer}");
    let about = answer.pointer("/hookSpecificOutput/hookEventName");
    assert!(about.is_none_or(|name| name == event), "{event}: {answer}");
    let decision = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    assert!(decision.is_none_or(|decision| ["allow", "ask", "deny"].contains(&decision)), "{answer}");
}

fn calls_of(event: &Event) -> Vec<String> {
    match &event.kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => vec![call.id.clone()],
        EventKind::BatchEnded(calls) => calls.iter().map(|call| call.id.clone()).collect(),
        _ => Vec::new(),
    }
}
