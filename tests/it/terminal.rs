//! Nothing from outside reaches a terminal raw: text that a terminal obeys is put into every field of every input, one after
//! the other, and then every command's output is looked at.

mod commands;
mod pasted;
mod tables;
#[cfg(all(feature = "team", target_os = "linux"))]
mod unseen;
mod width;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fusebox::ui::terminal::is_unseen;
use serde_json::{Value, json};

use crate::terminal::commands::CALLS;
use crate::world::{Outcome, TestWorld};

/// What an agent would send to a terminal: a title, a cleared screen, hidden letters, a line of its own, text that turns
/// around, and what a spreadsheet would compute.
pub const HOSTILE: &str =
    "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[8m\r\nFORGED\u{8}\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200b}\u{2028}\t=1+1";

/// What stays as it is where a field is planted: without it there is no such event.
const KEPT: [&str; 2] = ["/hook_event_name", "/transcript_path"];

/// One event of the recordings, and a text in it.
struct Plant {
    event: Value,
    at: String,
}

/// Returns one event for each text that any event of the recordings has, and for each kind of event.
fn plants() -> Vec<Plant> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let (mut seen, mut plants) = (BTreeSet::new(), Vec::new());
    for recording in fs::read_dir(root).unwrap().flatten() {
        let calls = fs::read_to_string(recording.path().join("hooks.jsonl")).unwrap_or_default();
        for line in calls.lines() {
            let event = serde_json::from_str::<Value>(line).unwrap()["input"].take();
            let mut texts = Vec::new();
            texts_of(&event, String::new(), &mut texts);
            for at in texts.into_iter().filter(|at| !KEPT.contains(&at.as_str())) {
                let name = event["hook_event_name"].as_str().unwrap_or_default().to_owned();
                if seen.insert((name, at.clone())) {
                    plants.push(Plant { event: event.clone(), at });
                }
            }
        }
    }
    plants
}

/// Collects the places of all texts in a value; of a list its first element stands for all.
fn texts_of(value: &Value, at: String, texts: &mut Vec<String>) {
    match value {
        Value::String(_) => texts.push(at),
        Value::Array(list) => list.iter().take(1).for_each(|first| texts_of(first, format!("{at}/0"), texts)),
        Value::Object(members) => members.iter().for_each(|(name, it)| texts_of(it, format!("{at}/{name}"), texts)),
        _ => {}
    }
}

/// Says what in an output a terminal would obey, and a line that is not ours.
fn harm(text: &str) -> Option<String> {
    let mut bare = text.to_owned();
    for own in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[4m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"] {
        bare = bare.replace(own, "");
    }
    let raw = bare.chars().find(|c| is_unseen(*c) && *c != '\n');
    let forged = bare.lines().find(|line| line.trim_start().starts_with("FORGED"));
    let line = |c: char| bare.lines().find(|line| line.contains(c)).unwrap_or_default().to_owned();
    raw.map(|c| format!("{c:?} in {:?}", line(c))).or_else(|| forged.map(|line| format!("a line of its own: {line:?}")))
}

/// Says what an answer to the client would do to the terminal that shows it.
fn harm_of_answer(answer: &str) -> Option<String> {
    if answer.is_empty() {
        return None;
    }
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    if let Some(specific) = answer["hookSpecificOutput"].as_object_mut() {
        specific.remove("updatedInput");
    }
    let mut texts = Vec::new();
    texts_of(&answer, String::new(), &mut texts);
    texts.iter().filter_map(|at| answer.pointer(at)?.as_str()).find_map(harm)
}

/// A policy with hostile names, keys and values in every place.
fn policy() -> String {
    let named = |name: &str| format!("{name}{HOSTILE}");
    let limits = json!({"max_turns": 1, "warn_at": [50], named("max_turns"): 3, "max_cost_usd": HOSTILE,
        "models": {named("*opus*"): {"max_cost_usd": 0.0001, named("max_tokens"): 1}, "*": {"max_requests": named("1")}},
        "rate_limits": [{"tool": named("Read*"), "max": 1, "per_ms": 60000}, {"tool": HOSTILE, "max": HOSTILE, "per_ms": 1}],
        "actions": {named("max_turns"): named("warn")}});
    json!({"main": limits, "session": limits, "user": limits, "project": limits,
        "agents": {"*": limits, named("general-purpose"): limits, HOSTILE: HOSTILE},
        "rate_limits": [{"tool": "*", "max": 1, "per_ms": 60000}, {"tool": named("Read"), "max": 1, "per_ms": 60000}],
        "mode": HOSTILE, "time_zone": HOSTILE, named("mode"): 1, HOSTILE: {HOSTILE: HOSTILE},
        "roles": {"planning": [HOSTILE]}, "retention_days": HOSTILE})
    .to_string()
}

/// Writes hostile configuration, prices, agents and transcripts.
fn write_files(world: &TestWorld) {
    let policy = policy();
    for place in [
        "home/.claude/fusebox.json",
        "project/.claude/fusebox.json",
        "project/.claude/fusebox.local.json",
        "project/hostile.json",
    ] {
        world.write(place, &policy);
    }
    let agent =
        format!("---\nname: {0:?}\n{0:?}: 1\nexecution_limits:\n  {0:?}: {0:?}\n  max_turns: {0:?}\n---\n", HOSTILE);
    world.write("project/.claude/agents/one.md", &agent);
    world.write(&format!("project/.claude/agents/a{}.md", HOSTILE.replace('/', "")), &agent);
    let prices =
        json!({"models": [{"model": HOSTILE, "input": HOSTILE, HOSTILE: 1}], HOSTILE: HOSTILE, "x": {HOSTILE: 1}});
    world.write("home/.claude/fusebox.pricing.json", prices.to_string());
    let handler =
        json!({"hooks": [{"type": "command", "command": format!("fusebox hook {HOSTILE}")}], "matcher": HOSTILE});
    let settings =
        json!({HOSTILE: HOSTILE, "hooks": {"PreToolUse": [handler], HOSTILE: [handler]}, "env": {HOSTILE: HOSTILE}});
    world.write("project/.claude/settings.json", settings.to_string());
    world.write("project/.claude/settings.local.json", format!("{{ {HOSTILE}"));
    let row = json!({"type": "assistant", "timestamp": "2026-11-20T10:00:00.000Z", "requestId": HOSTILE, "sessionId": HOSTILE,
        "cwd": format!("/srv/{HOSTILE}"), "message": {"id": format!("m{HOSTILE}"), "model": format!("claude-{HOSTILE}"),
        "usage": {"input_tokens": 10, "output_tokens": 20, "speed": HOSTILE, "service_tier": HOSTILE}, "content": []}});
    world.write("transcripts/s-0.jsonl", format!("{row}\n{row}{HOSTILE}\n"));
    world.write(&format!("home/.claude/projects/{HOSTILE}/s{HOSTILE}.jsonl").replace("1+1", "2"), format!("{row}\n"));
}

/// Sends each event with each of its texts planted, twice: the first alone may trip nothing. Returns what came back raw.
fn send_events(world: &TestWorld) -> (usize, Vec<String>) {
    let mut wrong = Vec::new();
    let plants = plants();
    for (number, Plant { event, at }) in plants.iter().enumerate() {
        for again in 0..2 {
            let mut input = event.clone();
            input["session_id"] = json!(format!("s-{}", number % 5));
            input["transcript_path"] = json!(world.path(&format!("transcripts/s-{}.jsonl", number % 2)));
            input["cwd"] = json!(world.path("project"));
            if again == 1 && input["tool_use_id"].is_string() {
                input["tool_use_id"] = json!("second");
            }
            let planted = input.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned() + HOSTILE;
            if let Some(text) = input.pointer_mut(at) {
                *text = json!(planted);
            }
            let outcome = world.hook(&input);
            let name = input["hook_event_name"].as_str().unwrap_or_default();
            let found =
                harm(&outcome.stdout).or_else(|| harm(&outcome.stderr)).or_else(|| harm_of_answer(&outcome.stdout));
            wrong.extend(found.map(|what| format!("hook {name} {at}: {what}")));
        }
    }
    (plants.len(), wrong)
}

fn look(call: &str, outcome: &Outcome, wrong: &mut Vec<String>) {
    for (stream, text) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        wrong.extend(harm(text).map(|what| format!("{call} ({stream}): {what}")));
    }
    if call.contains("--json") && !outcome.stdout.is_empty() {
        for text in
            if call.starts_with("log") { outcome.stdout.lines().collect() } else { vec![outcome.stdout.as_str()] }
        {
            if serde_json::from_str::<Value>(text).is_err() {
                wrong.push(format!("{call}: no JSON: {text:?}"));
            }
        }
    }
    if call.contains("--csv") {
        let formulas = outcome.stdout.lines().find(|line| line.starts_with(['=', '+', '-', '@']));
        wrong.extend(formulas.map(|line| format!("{call}: a formula: {line:?}")));
    }
}

#[test]
fn nothing_from_outside_reaches_a_terminal_raw() {
    let mut world = TestWorld::new();
    write_files(&world);
    let (planted, mut wrong) = send_events(&world);
    assert!(planted > 60, "only {planted} texts were found in the recordings");
    let log = fs::read_to_string(world.path("project/.claude/logs/execution-limits.log")).unwrap_or_default();
    wrong.extend(harm(&log).map(|what| format!("the log: {what}")));
    for colour in [false, true] {
        if colour {
            world.set("CLICOLOR_FORCE", "1");
        }
        for (name, calls) in CALLS {
            for call in *calls {
                let words: Vec<String> = call.split(' ').map(|word| word.replace("HOSTILE", HOSTILE)).collect();
                let words: Vec<&str> =
                    name.split(' ').chain(words.iter().map(String::as_str)).filter(|it| !it.is_empty()).collect();
                look(&format!("{name} {call}"), &world.run(&words), &mut wrong);
            }
        }
        for (session, run) in commands::ids(&world) {
            for (name, id) in [("explain", &run), ("status", &run), ("status", &session)] {
                look(&format!("{name} of an id"), &world.run(&[name, id]), &mut wrong);
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{} outputs:\n{}", wrong.len(), wrong.join("\n"));
}
