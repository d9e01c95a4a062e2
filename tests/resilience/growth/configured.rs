//! What can grow in the files that a client's start reads.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::fixture::Fixture;
use crate::growth::{DIMENSION, Dimension, grow_all};

/// The most entries that fit into a file of the size that is read.
const MOST: usize = 50_000;

/// Writes an agent's file with so many lines below a key.
fn frontmatter(fixture: &Fixture, size: usize, before: &str, line: impl Fn(usize) -> String) {
    let mut text = format!("---\nname: a1\n{before}\n");
    for at in 0..size {
        writeln!(text, "{}", line(at)).unwrap();
    }
    fixture.write("project/.claude/agents/a1.md", text + "---\nwork\n");
}

/// Writes the project's file with so many entries below a key.
fn entries(fixture: &Fixture, size: usize, inside: &[&str], entry: impl Fn(usize) -> (String, Value)) {
    let all: Map<String, Value> = (0..size).map(entry).collect();
    let config = inside.iter().rev().fold(Value::Object(all), |value, key| json!({ *key: value }));
    fixture.write("project/.claude/fusebox.json", config.to_string());
}

const GROWS: [Dimension; 12] = [
    Dimension {
        grows: "keys in the limits of one agent's frontmatter",
        most: MOST,
        make: |fixture, size| frontmatter(fixture, size, "execution_limits:", |at| format!("  k{at}: 1")),
        ..BEFORE
    },
    Dimension {
        grows: "keys in one agent's frontmatter that begin as one of ours",
        most: MOST,
        make: |fixture, size| frontmatter(fixture, size, "settings:", |at| format!("  timeout{at}: 1")),
        ..BEFORE
    },
    Dimension {
        grows: "the same key in one agent's frontmatter",
        most: MOST,
        make: |fixture, size| frontmatter(fixture, size, "execution_limits:", |at| format!("  max_turns: {at}")),
        ..BEFORE
    },
    Dimension {
        grows: "models in one agent's frontmatter",
        most: MOST / 2,
        make: |fixture, size| {
            frontmatter(fixture, size, "execution_limits:\n  models:", |at| format!("    m{at}: {{max_tokens: 9}}"));
        },
        ..BEFORE
    },
    Dimension {
        grows: "levels in one agent's frontmatter",
        most: MOST,
        make: |fixture, size| {
            let nested = "[".repeat(size) + &"]".repeat(size);
            frontmatter(fixture, 1, "execution_limits:", |_| format!("  max_turns: {nested}"));
        },
        ..BEFORE
    },
    Dimension {
        grows: "keys of nobody in the project's file",
        most: MOST,
        make: |fixture, size| entries(fixture, size, &["main"], |at| (format!("k{at}"), json!(1))),
        ..BEFORE
    },
    Dimension {
        grows: "agent types in the project's file",
        most: MOST / 2,
        make: |fixture, size| {
            entries(fixture, size, &["agents"], |at| (format!("type{at}-*"), json!({"max_turns": 9})))
        },
        ..BEFORE
    },
    Dimension {
        grows: "agent types that the project binds and patterns that reach all of them",
        most: MOST / 2,
        make: |fixture, size| {
            let types: Map<String, Value> =
                (0..size).map(|at| (format!("type{at}"), json!({"max_turns": 9}))).collect();
            fixture.write("project/.claude/fusebox.json", json!({"binding": true, "agents": types}).to_string());
            let pattern = |at: usize| format!("t{}y{}", "*".repeat(at % 100 + 1), "*".repeat(at / 100 + 1));
            let patterns: Map<String, Value> = (0..size).map(|at| (pattern(at), json!({"max_turns": 9}))).collect();
            fixture.write("project/.claude/fusebox.local.json", json!({"agents": patterns}).to_string());
        },
        ..BEFORE
    },
    Dimension {
        grows: "models in the project's file",
        most: MOST / 2,
        make: |fixture, size| {
            entries(fixture, size, &["session", "models"], |at| (format!("*{at}*"), json!({"max_tokens": 9_000_000})));
        },
        ..BEFORE
    },
    Dimension {
        grows: "rates in the project's file",
        most: 15_000,
        make: |fixture, size| {
            let rates: Vec<_> =
                (0..size).map(|at| json!({"tool": format!("R*{at}"), "max": 9, "per_ms": 1000})).collect();
            fixture.write("project/.claude/fusebox.json", json!({"rate_limits": rates}).to_string());
        },
        ..BEFORE
    },
    Dimension {
        grows: "prices in the person's file",
        most: 8_000,
        make: |fixture, size| {
            let price = |at| json!({"model": format!("m{at}"), "input": 1, "output": 2, "write_5m": 1, "write_1h": 1, "cache_read": 1});
            let rows: Vec<_> = (0..size).map(price).collect();
            fixture.write("home/.claude/fusebox.pricing.json", json!({"rows": rows}).to_string());
            let row = |at: usize| {
                let message = json!({"role": "assistant", "id": format!("f{at}"), "model": format!("m{at}"),
                    "usage": {"input_tokens": 1, "output_tokens": 1}});
                json!({"type": "assistant", "timestamp": "2026-11-20T10:00:00.000Z", "message": message})
            };
            fixture.append("live/s1.jsonl", &(0..size).map(row).collect::<Vec<_>>());
        },
        responses: |size| size,
        ..BEFORE
    },
    Dimension {
        grows: "agents' files with limits",
        most: 12_000,
        make: |fixture, size| {
            for at in 0..size {
                let text = format!("---\nname: a{at}\nexecution_limits:\n  max_turns: 9\n---\nwork\n");
                fixture.write(&format!("project/.claude/agents/a{at}.md"), text);
            }
        },
        ..BEFORE
    },
];

/// Something that is there when the client starts.
const BEFORE: Dimension = Dimension { before: true, ..DIMENSION };

#[test]
fn configuration_may_grow() {
    grow_all(&GROWS);
}
