//! What can grow in the events themselves, and by their number.

use serde_json::{Value, json};

use crate::growth::{DIMENSION, Dimension, grow_all};
use crate::session::Session;

/// So many of something, in a list.
fn many(size: usize, one: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..size).map(one).collect()
}

/// An event of a subagent of its own.
fn of_agent(session: &Session, name: &str, at: usize) -> Value {
    session.event(name, &json!({"agent_id": format!("b{at}"), "agent_type": "developer"}))
}

/// The events of an agent of its own whose second call asks for more, and what comes of that.
fn asking(session: &Session, at: usize, then: &[&str]) -> Vec<Value> {
    let call = |id: &str, name: &str| {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": id}, "tool_use_id": id, "tool_response": id});
        let mut rest = if name == "PostToolBatch" { json!({"tool_calls": [call]}) } else { call };
        (rest["agent_id"], rest["agent_type"]) = (json!(format!("b{at}")), json!("asker"));
        session.event(name, &rest)
    };
    let (first, second) = (format!("b{at}-1"), format!("b{at}-2"));
    let before = ["PreToolUse", "PostToolUse", "PostToolBatch"].map(|name| call(&first, name));
    let after = ["PreToolUse"].iter().chain(then).map(|name| call(&second, name));
    before.into_iter().chain(after).collect()
}

const GROWS: [Dimension; 12] = [
    Dimension {
        grows: "dialogs that nobody answers",
        most: 150,
        told: |session, size| (0..size).flat_map(|at| asking(session, at, &[])).collect(),
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "dialogs that got a No",
        most: 150,
        told: |session, size| (0..size).flat_map(|at| asking(session, at, &["PostToolBatch"])).collect(),
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "Yeses that nothing shows",
        most: 150,
        told: |session, size| (0..size).flat_map(|at| asking(session, at, &["PostToolUse"])).collect(),
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "calls in one batch",
        most: 100_000,
        told: |session, size| {
            let calls = many(
                size,
                |at| json!({"tool_name": "Read", "tool_use_id": format!("c{at}"), "tool_input": {"file_path": at}, "tool_response": at}),
            );
            vec![session.event("PostToolBatch", &json!({"tool_calls": calls}))]
        },
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "crons at a stop",
        most: 100_000,
        told: |session, size| {
            let crons = many(size, |at| json!({"id": at, "prompt": format!("cron {at}")}));
            vec![session.event("Stop", &json!({"session_crons": crons}))]
        },
        ..DIMENSION
    },
    Dimension {
        grows: "background tasks at a stop",
        most: 100_000,
        told: |session, size| {
            let tasks = many(size, |at| json!({"id": at, "type": "subagent", "status": "running"}));
            vec![session.event("Stop", &json!({"background_tasks": tasks}))]
        },
        ..DIMENSION
    },
    Dimension {
        grows: "notifications in one prompt",
        most: 100_000,
        told: |session, size| {
            let one = |at| {
                format!(
                    "<task-notification>\n<task-id>b{at}</task-id><tool-use-id>c{at}</tool-use-id></task-notification>\n"
                )
            };
            vec![session.event("UserPromptSubmit", &json!({"prompt": (0..size).map(one).collect::<String>()}))]
        },
        ..DIMENSION
    },
    Dimension {
        grows: "bytes of a model's name at a start",
        told: |session, size| {
            vec![session.event("SessionStart", &json!({"source": "resume", "model": "x".repeat(size)}))]
        },
        ..DIMENSION
    },
    Dimension {
        grows: "bytes of the ids of a call and of a prompt",
        told: |session, size| {
            let long = "x".repeat(size);
            let input = json!({"file_path": "/srv"});
            let call = json!({"tool_name": "Read", "tool_use_id": long, "tool_input": input, "tool_response": "done"});
            vec![session.event("PostToolBatch", &json!({"tool_calls": [call]}))]
        },
        calls: |_| 1,
        ..DIMENSION
    },
    Dimension {
        grows: "agents at work",
        most: 300,
        told: |session, size| many(size, |at| of_agent(session, "SubagentStart", at)),
        ..DIMENSION
    },
    Dimension {
        grows: "shell commands in the background",
        most: 300,
        told: |session, size| {
            many(size, |at| {
                let (input, result) =
                    (json!({"command": format!("sleep {at}")}), json!({"backgroundTaskId": format!("b{at}")}));
                session.event(
                    "PostToolUse",
                    &json!({"tool_name": "Bash", "tool_use_id": format!("c{at}"), "tool_input": input, "tool_response": result}),
                )
            })
        },
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "events that nobody knows",
        most: 300,
        told: |session, size| many(size, |at| session.event(&format!("Later{at}"), &json!({}))),
        ..DIMENSION
    },
];

#[test]
fn events_may_grow() {
    grow_all(&GROWS);
}
