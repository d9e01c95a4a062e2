//! What may come on standard input, and how its other end may behave.

use std::io::Write;

use serde_json::{Value, json};

use crate::faults::{Comes, FAULT, Fault, strike_all};
use crate::fixture::{Hook, Outcome};

/// The event with something in place of the tool's input.
fn told_of(event: &Value, input: &str) -> String {
    let event = json!({"a": 0, "event": event})["event"].clone();
    let text = event.to_string();
    let old = format!(r#""tool_input":{}"#, event["tool_input"]);
    assert!(text.contains(&old), "{text}");
    text.replace(&old, &format!(r#""tool_input":{input}"#))
}

/// Makes the call with something in place of the tool's input, from a file.
fn with_input(hook: Hook, event: &Value, input: &str) -> Outcome {
    hook.feed(told_of(event, input))
}

/// So many megabytes of a text.
fn megabytes(count: usize, of: &str) -> String {
    of.repeat((count << 20) / of.len())
}

pub const FAULTS: [Fault; 12] = [
    Fault {
        fault: "an input of 50 MB",
        made: "one string in the tool's input",
        call: |hook, event| with_input(hook, event, &format!(r#"{{"file_path":"{}"}}"#, megabytes(50, "x"))),
        ..FAULT
    },
    Fault {
        fault: "an input of 50 MB full of escapes",
        made: "a string of `\\n\\u00e9`",
        call: |hook, event| with_input(hook, event, &format!(r#"{{"file_path":"{}"}}"#, megabytes(50, "\\n\\u00e9"))),
        ..FAULT
    },
    Fault {
        fault: "an input of 50 MB without a long string",
        made: "a list of numbers: more than is kept",
        comes: Comes::ByOnError,
        says: "no event as the client writes them",
        call: |hook, event| with_input(hook, event, &format!("[{}0]", megabytes(50, "1,"))),
        ..FAULT
    },
    Fault {
        fault: "an input nested 100,000 deep",
        made: "lists in the tool's input",
        call: |hook, event| with_input(hook, event, &("[".repeat(100_000) + &"]".repeat(100_000))),
        ..FAULT
    },
    Fault {
        fault: "lone surrogates and NUL characters in the input",
        made: "`\\ud800` and `\\u0000` in a string, as JavaScript writes them",
        call: |hook, event| with_input(hook, event, r#"{"file_path":"\ud800 \u0000"}"#),
        ..FAULT
    },
    Fault {
        fault: "an input that is no UTF-8",
        made: "bytes `ff fe` in a string, which JavaScript cannot write",
        comes: Comes::ByOnError,
        says: "no event as the client writes them",
        call: |hook, event| {
            let text = told_of(event, r#"{"file_path":"HERE"}"#).into_bytes();
            let at = text.windows(4).position(|word| word == b"HERE").unwrap();
            hook.feed([&text[..at], b"\xff\xfe", &text[at + 4..]].concat())
        },
        ..FAULT
    },
    Fault {
        fault: "no input",
        made: "an empty pipe",
        comes: Comes::ByOnError,
        says: "the hook's input is empty",
        call: |hook, _| hook.feed(""),
        ..FAULT
    },
    Fault {
        fault: "an input that is cut off",
        made: "its first half",
        comes: Comes::ByOnError,
        says: "no event as the client writes them",
        call: |hook, event| {
            let text = event.to_string();
            hook.feed(&text[..text.len() / 2])
        },
        ..FAULT
    },
    Fault {
        fault: "an input that never ends",
        made: "half of it, and the pipe stays open",
        comes: Comes::ByOnError,
        says: "no event as the client writes them",
        call: |hook, event| {
            let text = event.to_string();
            hook.run(|child| child.stdin.as_mut().unwrap().write_all(&text.as_bytes()[..text.len() / 2]).unwrap())
        },
        ..FAULT
    },
    Fault {
        fault: "an input that is whole, in a pipe that is never closed",
        made: "all of it, and the pipe stays open",
        call: |hook, event| {
            let text = event.to_string();
            hook.run(|child| child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap())
        },
        ..FAULT
    },
    Fault {
        fault: "standard output and error are closed",
        made: "`>&- 2>&-`",
        call: |hook, event| hook.in_shell(r#"exec "$@" >&- 2>&-"#).tell(event),
        ..FAULT
    },
    Fault {
        fault: "nobody reads the answer",
        made: "a pipe whose reader has gone",
        call: |hook, event| hook.in_shell(r#"{ trap "" PIPE; while echo; do :; done 2>&-; "$@"; } | true"#).tell(event),
        ..FAULT
    },
];

#[test]
fn any_input() {
    strike_all(&FAULTS);
}
