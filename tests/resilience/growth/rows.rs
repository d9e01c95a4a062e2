//! What can grow in transcripts, and in their folders.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};

use serde_json::json;

use crate::fixture::{Answer, Fixture, Meter};
use crate::growth::{CAP, DIMENSION, Dimension, HELD, grow_all};
use crate::session::Session;

const TIME: &str = "2026-11-20T10:00:00.000Z";

/// Returns a response's row, with what else stands in it.
fn row(id: &str, model: &str, rest: &str) -> String {
    let usage = r#"{"input_tokens":1,"output_tokens":1}"#;
    format!(
        r#"{{"type":"assistant","timestamp":"{TIME}",{rest}"message":{{"role":"assistant","id":"{id}","model":"{model}","usage":{usage}}}}}"#
    )
}

/// Returns the row of a response that may be one of its conversation: its prompt is not much shorter than the one before.
fn credible(id: &str, model: &str, rest: &str) -> String {
    row(id, model, rest).replace(r#""input_tokens":1,"#, r#""input_tokens":1,"cache_read_input_tokens":500,"#)
}

/// How many responses are charged of those that say less than they can have used: as many as a batch may be late with.
const DOUBTED: usize = 3;

/// Adds so many rows to a transcript.
fn add(fixture: &Fixture, place: &str, size: usize, row: impl Fn(usize) -> String) {
    let path = fixture.path(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = BufWriter::new(OpenOptions::new().create(true).append(true).open(path).unwrap());
    for at in 0..size {
        writeln!(file, "{}", row(at)).unwrap();
    }
}

const MAIN: &str = "live/s1.jsonl";
const MODEL: &str = "claude-opus-5-5";

const GROWS: [Dimension; 14] = [
    Dimension {
        grows: "responses of one model",
        make: |fixture, size| add(fixture, MAIN, size, |at| credible(&format!("f{at}"), MODEL, "")),
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "responses that say less than they can have used",
        make: |fixture, size| add(fixture, MAIN, size, |at| row(&format!("f{at}"), MODEL, "")),
        responses: |size| size.min(DOUBTED),
        ..DIMENSION
    },
    Dimension {
        grows: "responses, each of a model of its own",
        make: |fixture, size| add(fixture, MAIN, size, |at| credible(&format!("f{at}"), &format!("made-up-{at}"), "")),
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "responses with models and ids of a kilobyte",
        most: 100_000,
        make: |fixture, size| {
            let long = "x".repeat(1 << 10);
            add(fixture, MAIN, size, |at| credible(&format!("{long}{at}"), &format!("{long}{at}"), ""));
        },
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "responses, each copied from a session of its own",
        make: |fixture, size| {
            add(fixture, MAIN, size, |at| row(&format!("f{at}"), MODEL, &format!(r#""requestSessionId":"o{at}","#)));
        },
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "rows of two responses in turn",
        make: |fixture, size| add(fixture, MAIN, size, |at| row(&format!("f{}", at % 2), MODEL, "")),
        responses: |_| 2,
        ..DIMENSION
    },
    Dimension {
        grows: "responses with counts that cannot be",
        make: |fixture, size| {
            add(fixture, MAIN, size, |at| {
                row(&format!("f{at}"), MODEL, "").replace(r#""input_tokens":1"#, r#""input_tokens":-1"#)
            });
        },
        responses: |size| size.min(DOUBTED),
        ..DIMENSION
    },
    Dimension {
        // Each is charged as an average one, since it stands among billed ones.
        grows: "responses that their rows call free",
        make: |fixture, size| add(fixture, MAIN, size, |at| row(&format!("f{at}"), MODEL, r#""isUnmetered":true,"#)),
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "rows that cannot be read",
        make: |fixture, size| add(fixture, MAIN, size, |at| row(&format!("f{at}"), MODEL, "")[5..].to_owned()),
        ..DIMENSION
    },
    Dimension {
        grows: "results of calls that no hook was asked about",
        make: |fixture, size| {
            add(fixture, MAIN, 3, |at| row(&format!("f{at}"), MODEL, ""));
            add(fixture, MAIN, size, |at| {
                let result = json!([{"type": "tool_result", "tool_use_id": format!("u{at}"), "content": "x"}]);
                json!({"type": "user", "promptId": "s1-p1", "timestamp": TIME, "message": {"role": "user", "content": result}})
                    .to_string()
            });
        },
        responses: |_| 3,
        calls: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "kilobytes of results",
        make: |fixture, size| {
            let result = format!(r#"{{"type":"user","x":"{}"}}"#, "x".repeat(1_000));
            add(fixture, MAIN, size, |_| result.clone());
        },
        ..DIMENSION
    },
    Dimension {
        grows: "responses of a subagent",
        make: |fixture, size| {
            add(fixture, "live/s1/subagents/agent-a1.jsonl", size, |at| {
                credible(&format!("f{at}"), &format!("made-up-{at}"), "")
            });
        },
        responses: |size| size,
        agent: Some("a1"),
        ..DIMENSION
    },
    Dimension {
        grows: "subagents that nobody has announced",
        most: 100_000,
        make: |fixture, size| {
            for at in 0..size {
                let row = row(&format!("f{at}"), MODEL, "") + "\n";
                fs::write(fixture.path(&format!("live/s1/subagents/agent-u{at}.jsonl")), row).unwrap();
            }
        },
        told: |session, _| vec![session.event("UserPromptSubmit", &json!({"prompt": "on"}))],
        responses: |size| size,
        ..DIMENSION
    },
    Dimension {
        grows: "subagents of the session that this one was forked from",
        most: 100_000,
        make: |fixture, size| {
            fs::create_dir_all(fixture.path("live/o1/subagents")).unwrap();
            for at in 0..size {
                let row = row(&format!("f{at}"), MODEL, "") + "\n";
                fs::write(fixture.path(&format!("live/o1/subagents/agent-u{at}.jsonl")), row).unwrap();
            }
            add(fixture, MAIN, 1, |_| row("copy", MODEL, r#""requestSessionId":"o1","#));
        },
        responses: |size| size + 1,
        ..DIMENSION
    },
];

#[test]
fn transcripts_may_grow() {
    grow_all(&GROWS);
}

/// What lies between the rows that were read and the response that passes the cap.
const HIDES: [(&str, fn(&Fixture)); 3] = [
    ("responses of made-up models that cost nothing", |fixture| {
        add(fixture, MAIN, 100_000, |at| row(&format!("f{at}"), &format!("made-up-{at}"), "").replace(":1", ":0"));
    }),
    ("half a gigabyte of results", |fixture| {
        let result = format!(r#"{{"type":"user","x":"{}"}}"#, "x".repeat(1 << 20));
        add(fixture, MAIN, 600, |_| result.clone());
    }),
    ("a line of half a gigabyte", |fixture| add(fixture, MAIN, 1, |_| "x".repeat(600 << 20))),
];

#[test]
fn what_is_unread_is_no_way_past_a_limit() {
    for (what, hide) in HIDES {
        let fixture =
            Fixture::under(&json!({"main": {"max_cost_usd": 1, "grace_turns": 0}, "session": {"max_cost_usd": null}}));
        let session = Session::begin(&fixture, "s1");
        assert_eq!(session.works("t1"), Answer::Allowed);
        hide(&fixture);
        add(&fixture, MAIN, 1, |_| row("dear", MODEL, "").replace(":1,", ":1000000,"));
        let mut said = String::new();
        for at in 0..60 {
            let outcome = fixture.hook().tell(&session.requests("Read", &format!("t{}", at + 2)));
            assert!(outcome.worked.as_secs() < 2, "{what}: {:?}", outcome.worked);
            let Answer::Refused(why) = outcome.ok() else { panic!("{what}: call {at} ran, after {said}") };
            said = why;
            if !said.contains(HELD) {
                break;
            }
        }
        assert!(said.contains("max_cost_usd"), "{what}: {said}");
        assert_eq!(fixture.meter("s1", Meter::Turns), 1, "{what}");
    }
}

#[test]
fn a_hole_of_a_terabyte_holds_nobody() {
    let fixture = Fixture::under(&json!({"main": {"max_turns": CAP, "grace_turns": 0, "warn_at": []}}));
    let session = Session::begin(&fixture, "s1");
    assert_eq!(session.works("t1"), Answer::Allowed);
    let file = OpenOptions::new().append(true).open(fixture.path(MAIN)).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut line = String::new();
    write!(line, "\n{}\n", row("behind", MODEL, "")).unwrap();
    (&file).write_all(line.as_bytes()).unwrap();
    for id in ["t2", "t3"] {
        let outcome = fixture.hook().tell(&session.requests("Read", id));
        assert!(outcome.worked.as_millis() < 500, "{:?}", outcome.worked);
        assert_eq!(outcome.ok(), Answer::Allowed);
        session.goes_on(id);
    }
    assert_ne!(session.works("t4"), Answer::Allowed);
    assert_eq!(fixture.meter("s1", Meter::Requests), 4);
}

#[test]
fn an_ordinary_transcript_of_100_mb_is_taken_in_at_once() {
    const RESPONSES: usize = 20_000;
    let fixture = Fixture::under(&json!({"session": {"max_cost_usd": null}}));
    let result = format!(r#"{{"type":"user","x":"{}"}}"#, "x".repeat(4_800));
    add(&fixture, MAIN, RESPONSES, |at| row(&format!("f{at}"), MODEL, "") + "\n" + &result);
    let session = Session::named(&fixture, "s1");
    let event = session.event("SessionStart", &json!({"source": "resume"}));
    for event in [event, session.prompt(), session.requests("Read", "t1")] {
        let outcome = fixture.hook().tell(&event);
        assert!(outcome.worked.as_secs() < 2 && outcome.peak_kib.is_some_and(|peak| peak < 64 << 10), "{outcome:?}");
        assert_eq!(outcome.ok(), Answer::Allowed);
    }
    assert_eq!(fixture.meter("s1", Meter::Requests), RESPONSES as u64);
}
