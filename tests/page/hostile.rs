//! Names that an agent wrote: none of them scripts the page, breaks it, or is shown as something else.

use fusebox::domain::moment::Moment;
use fusebox::domain::record::{Record, RecordKind};
use fusebox::domain::session::{Counters, Run, Session, Status};
use fusebox::domain::spend::amount::{Amount, PICO};
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::store::Store;
use fusebox::ui::terminal::{is_unseen, plain};
use serde_json::{Value, json};

use crate::chromium::{chromium, open};
use crate::figures::{rows, same_groups, same_sessions, same_timelines};
use crate::states::{BEGAN_MS, State};

const NAMES: [&str; 14] = [
    "</script><script>window.wild = 1</script>",
    "<!--<script>",
    "<img src=x onerror=\"window.wild = 1\">",
    "<svg/onload=window.wild=1>",
    "\"><style>*{display:none}</style>",
    "{{runs}}{{data}}{{script}}",
    "\u{202e}gnp.exe\u{2066}\u{200b}",
    "a\u{0}b\u{1b}[31mc\u{9b}d\u{7f}\r\ne\u{2028}f",
    "javascript:window.wild=1",
    "__proto__",
    "\\u003cscript\\u003e",
    "&lt;b&gt;&amp;",
    "https://127.0.0.1:9/pixel.png",
    "@import url(//127.0.0.1:9/a.css)",
];

fn at(seconds: i64) -> Moment {
    Moment { wall_ms: BEGAN_MS + seconds * 1000, mono_ms: seconds as u64 * 1000, boot: 0, slept_ms: 0 }
}

/// Writes a session in which everything has one name.
fn write(store: &Store, number: usize, name: &str) {
    let name = || name.to_owned();
    let session = Session {
        id: format!("{number:08x}{}", name()),
        project: format!("/srv/{}", name()),
        folder: "/srv".to_owned(),
        status: Status::Completed,
        started: at(0),
        last: at(60),
        ..Session::default()
    };
    store.save_session(&session).unwrap();
    let spent = Spend { requests: 1, tokens: 100, cache_reads: 0, cost: Amount(PICO * (number as u64 + 1)) };
    let run = Run {
        id: format!("run{number}{}", name()),
        session: session.id.clone(),
        agent_type: name(),
        task: Some(name()),
        status: Status::Failed,
        stop_reason: Some(name()),
        error: Some(name()),
        started: at(1),
        last: at(60),
        counters: Counters { turns: 3, spent, ..Counters::default() },
        settled: true,
        ..Run::default()
    };
    store.save_run(&run).unwrap();
    let (message, at_ms) = (format!("m{number}"), at(2).wall_ms);
    let (session, run) = (session.id, run.id);
    let (model, of_run) = (name(), run.clone());
    let charge =
        Charge { message, session: session.clone(), run: of_run, model, at_ms, spend: spent, ..Charge::default() };
    store.save_charge(&charge).unwrap();
    let (limit, action, layer) = (format!("models.{}.max_cost_usd", name()), name(), name());
    let (event, used, cap) = (Some(RecordKind::AgentFailed), Some(1.0), Some(1.0));
    let record = Record { event, session, run, limit, action, layer, used, cap, ..Record::default() };
    store.save_record(&record, at(30)).unwrap();
}

/// A state whose every name is one of these.
fn written() -> State {
    let state = State::new("{}");
    state.save(|store| NAMES.iter().enumerate().for_each(|(number, name)| write(store, number, name)));
    state
}

#[test]
fn no_name_scripts_the_page_or_hides_in_it() {
    let Some(chromium) = chromium() else { return };
    let (state, now) = (written(), BEGAN_MS + 3_600_000);
    let seen = open(&chromium, &state.page(now), "read", None);
    assert_eq!((&seen["complaints"], &seen["requests"]), (&json!([]), &json!([])));
    let (closed, opened) = (&seen["closed"], &seen["opened"]);
    assert_eq!((&closed["wild"], &opened["wild"]), (&Value::Null, &Value::Null));
    let shown_as = |json: Value| shown(&json);
    let json = shown_as(state.json(now, &[]));
    same_sessions(closed, &json);
    same_timelines(opened, &json);
    for (label, one, many) in
        [("Agent type", "agent", "agents"), ("Model", "model", "models"), ("Project", "project", "projects")]
    {
        same_groups(closed, label, &shown_as(state.json(now, &["--by", one])), (one, many));
    }
    assert_eq!(rows(closed, "Trips").len(), NAMES.len());
    let all = seen.to_string();
    assert!(!all.chars().any(is_unseen), "what a reader would not see is shown as an escape");
    assert_eq!((&seen["light"]["back"], &seen["light"]["over"]), (&json!("rgb(255, 255, 255)"), &json!(0)));
}

/// Returns a report with its texts as people read them.
fn shown(json: &Value) -> Value {
    match json {
        Value::String(text) => plain(text).into(),
        Value::Array(list) => list.iter().map(shown).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), shown(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
