//! A page of 100,000 runs.

use fusebox::domain::moment::Moment;
use fusebox::domain::record::{Record, RecordKind};
use fusebox::domain::session::{Counters, MAIN, Run, Session, Status};
use fusebox::domain::spend::amount::{Amount, PICO};
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::store::Store;

use crate::chromium::{chromium, open};
use crate::states::{BEGAN_MS, DAY_MS, State};

const SESSIONS: usize = 1_000;
const RUNS: usize = 100;
const TYPES: [&str; 6] = ["developer", "qa", "Explore", "general-purpose", "architect", "code-reviewer"];
const MODELS: [&str; 3] = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"];
/// The longest that a page may take from the navigation until a session's timeline is open, in milliseconds.
const MOST_MS: f64 = 2_000.0;

fn at(ms: i64) -> Moment {
    Moment { wall_ms: BEGAN_MS + ms, mono_ms: ms as u64, boot: 0, slept_ms: 0 }
}

/// Numbers that differ without order, the same in each run of the test.
fn drawn(number: usize, place: usize) -> usize {
    (number * RUNS + place) * 7_919 % 10_007
}

fn run_id(number: usize, place: usize) -> String {
    format!("a{number:05x}{place:04x}{:07x}", drawn(number, place))
}

/// The run of a session in this place: some are spawned by others, and one in twenty is stopped.
fn run(session: &Session, number: usize, place: usize) -> Run {
    let drawn = drawn(number, place);
    let cost = Amount(drawn as u64 * PICO / 5_000);
    let spent = Spend { requests: 4, tokens: 12_000 + drawn as u64, cache_reads: 50_000, cost };
    let (turns, duration_ms) = (drawn as u64 % 60, 1_000 + drawn as u64 * 60);
    let began = session.started.wall_ms - BEGAN_MS + place as i64 * 10_000;
    Run {
        id: run_id(number, place),
        session: session.id.clone(),
        agent_type: if place == 0 { MAIN } else { TYPES[drawn % TYPES.len()] }.to_owned(),
        parent: (place > 0).then(|| run_id(number, place / 5)),
        depth: u32::from(place > 0),
        status: if drawn % 20 == 7 { Status::Failed } else { Status::Completed },
        started: at(began),
        last: at(began + 300_000),
        counters: Counters { turns, spent, duration_ms, ..Counters::default() },
        settled: true,
        ..Run::default()
    }
}

/// Writes a session with its runs, what they spent and the limits that they reached.
fn write(store: &Store, number: usize) {
    let began = number as i64 * 13 * DAY_MS / SESSIONS as i64;
    let session = Session {
        id: format!("{number:08x}-5e55-4a11-8b0e-{number:012x}"),
        project: format!("/srv/project-{}", number % 17),
        folder: "/srv".to_owned(),
        status: Status::Completed,
        started: at(began),
        last: at(began + 1_200_000),
        ..Session::default()
    };
    store.save_session(&session).unwrap();
    for place in 0..RUNS {
        let run = run(&session, number, place);
        store.save_run(&run).unwrap();
        let charge = Charge {
            message: format!("m{number}-{place}"),
            session: session.id.clone(),
            run: run.id.clone(),
            model: MODELS[drawn(number, place) % 3].to_owned(),
            at_ms: run.started.wall_ms,
            spend: run.counters.spent,
            ..Charge::default()
        };
        store.save_charge(&charge).unwrap();
        if run.status == Status::Failed {
            store.save_record(&trip(&run), run.last).unwrap();
        }
    }
}

fn trip(run: &Run) -> Record {
    let [limit, scope, action, layer] = ["max_turns", "run", "terminate", "project"].map(str::to_owned);
    let (session, run) = (run.session.clone(), run.id.clone());
    let (event, used, cap) = (Some(RecordKind::AgentFailed), Some(25.0), Some(25.0));
    Record { event, session, run, limit, scope, action, used, cap, layer, ..Record::default() }
}

#[test]
fn a_hundred_thousand_runs_open_at_once() {
    let Some(chromium) = chromium() else { return };
    let state = State::new("{}");
    state.save(|store| (0..SESSIONS).for_each(|number| write(store, number)));
    let page = state.page(BEGAN_MS + 14 * DAY_MS);
    let bytes = page.metadata().unwrap().len();
    let seen = open(&chromium, &page, "time", None);
    println!("{bytes} bytes: {seen}");
    assert_eq!(seen["runs"], (SESSIONS * RUNS).to_string());
    assert_eq!(seen["complaints"], serde_json::json!([]));
    for moment in ["shown", "answered", "filtered"] {
        assert!(seen[moment].as_f64().unwrap() < MOST_MS, "{moment}: {seen}");
    }
    assert!(bytes < 16_000_000, "{bytes}");
}
