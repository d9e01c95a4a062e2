//! An explanation says nothing twice: no sentence of it is contained in another.

use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::shell;
use crate::session_commands::prompt_block::begin;
use crate::world::{TestWorld, in_long_form};

/// Shorter pieces are names and figures, and no sentences.
const SHORTEST: usize = 24;

/// Returns the sentences of an explanation, but for the records of its timeline, which tell what was said then.
fn sentences(text: &str) -> Vec<String> {
    let is_record = |line: &str| line.starts_with("20") && line.get(4..5) == Some("-");
    // A bar, and what stands in the tree below a run.
    let is_figure = |line: &str| line.contains("[#") || line.contains("[-") || line.starts_with("    ");
    let lines = text.lines().filter(|line| !is_figure(line)).map(str::trim).filter(|line| !is_record(line));
    let pieces = lines.flat_map(|line| line.split(". ")).map(|piece| piece.trim_matches(['.', ' ']).to_owned());
    pieces.filter(|piece| piece.len() >= SHORTEST).collect()
}

/// Returns what of a text is contained in another sentence of it.
fn repeated(text: &str) -> Vec<String> {
    let all = sentences(text);
    let is_in_another = |at: usize| (0..all.len()).any(|other| other != at && all[other].contains(&all[at]));
    (0..all.len()).filter(|at| is_in_another(*at)).map(|at| all[at].clone()).collect()
}

/// Plays until something holds, and asks for each explanation.
fn told(policy: &Value, who: Actor, rounds: usize) -> Vec<(String, String)> {
    let mut fixture: Fixture = begin(policy);
    for _ in 0..rounds {
        let _held = (0..30).any(|_| !fixture.step(who));
        fixture.stops();
        let _blocked = fixture.prompt();
    }
    let places = ["explain", "explain 1", "explain 2", "explain p1-0000", "explain a1-0000", "explain s-0000 --all"];
    let ask = |place: &str| (place.to_owned(), shell(&fixture, &format!("COLUMNS=2000 fusebox {place}")));
    places.into_iter().map(ask).collect()
}

#[test]
fn no_sentence_of_an_explanation_is_contained_in_another() {
    let mut wrong = Vec::new();
    let limits = [
        ("main", json!({"max_turns": 3})),
        ("main", json!({"max_cost_usd": 0.09})),
        ("main", json!({"max_turns": 3, "max_requests": 3})),
        ("session", json!({"max_cost_usd": 0.09})),
        ("session", json!({"max_turns": 3, "max_tokens": 3000})),
        ("user", json!({"max_cost_usd_per_day": 0.09})),
        ("agents", json!({"worker": {"max_turns": 3}})),
    ];
    for (at, (block, limits)) in limits.into_iter().enumerate() {
        for (turn, action) in ["terminate", "pause", "warn", "request_increase"].into_iter().enumerate() {
            let mut limits = limits.clone();
            let holder = if block == "agents" { &mut limits["worker"] } else { &mut limits };
            holder["timeout_action"] = json!(action);
            let who = if block == "agents" { Actor::Worker } else { Actor::Main };
            for rounds in [1, 2].into_iter().filter(|rounds| in_long_form() || (at + turn + rounds) % 2 == 0) {
                for (place, text) in told(&json!({block: limits}), who, rounds) {
                    let again = repeated(&text);
                    if !again.is_empty() {
                        wrong.push(format!("{block} {action}, {rounds}: {place} says again {again:?}:\n{text}"));
                    }
                }
            }
        }
    }
    let shown = wrong.len().min(12);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..shown].join("\n"));
}

/// Where the refusals were for a rate, what would have helped is to wait for its window.
#[test]
fn refusals_in_a_row_for_a_rate_say_when_its_window_opens_again() {
    let world = TestWorld::new();
    let policy =
        json!({"main": {"max_denials": 1}, "rate_limits": [{"tool": "WebSearch", "max": 1, "per_ms": 3_600_000}]});
    world.write("home/.claude/fusebox.json", policy.to_string());
    let tell = |name: &str, rest: &Value| world.hook(world.event("s1", "p1", name, rest)).ok();
    tell("UserPromptSubmit", &json!({"prompt": "go"}));
    for id in ["w1", "w2", "w3", "w4"] {
        let call = json!({"tool_name": "WebSearch", "tool_input": {"query": id}, "tool_use_id": id});
        tell("PreToolUse", &call);
        tell("PostToolBatch", &json!({"tool_calls": [call]}));
    }
    let told = world.run(&["explain", "p1"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("max_denials") && told.contains("`rate_limits.WebSearch` opens its next slot in"), "{told}");
}
