//! The page of recorded sessions.

use std::fs;

use fusebox::calendar::Zone;
use serde_json::Value;

use crate::chromium::{chromium, open};
use crate::figures::{
    exact, pico, rows, runs, runs_begun, same_budgets, same_caps, same_groups, same_hours, same_sessions,
    same_timelines, same_trips, same_types,
};
use crate::states::{BEGAN_MS, HOUR_MS, OVER_MS, State, ZONE, recordings, two_weeks};

const GROUPINGS: [(&str, &str, &str); 4] = [
    ("Day", "day", "days"),
    ("Agent type", "agent", "agents"),
    ("Model", "model", "models"),
    ("Project", "project", "projects"),
];

fn is_quiet(seen: &Value) {
    let none = Value::Array(Vec::new());
    assert_eq!((&seen["complaints"], &seen["requests"]), (&none, &none), "nothing is complained of, nothing fetched");
}

fn same_numbers(state: &State, seen: &Value) {
    let json = state.json(OVER_MS, &[]);
    let (closed, opened) = (&seen["closed"], &seen["opened"]);
    for (label, one, many) in GROUPINGS {
        same_groups(closed, label, &state.json(OVER_MS, &["--by", one]), (one, many));
    }
    same_sessions(closed, &json);
    same_types(closed, &json);
    same_trips(closed, &json);
    same_budgets(closed, &json);
    same_caps(closed, &json);
    same_hours(closed, &json, &Zone::named(Some(ZONE)));
    same_timelines(opened, &json);
    let days = state.json(OVER_MS, &["--by", "day"]);
    let days = days["days"].as_array().unwrap();
    let sum = |list: &[Value], key: &str| list.iter().map(|it| it[key].as_u64().unwrap()).sum::<u64>();
    let sessions = json["sessions"].as_array().unwrap();
    let trips: usize = runs(&json).iter().map(|(_, run)| run["trips"].as_array().unwrap().len()).sum();
    let expected = [
        ("Sessions", sessions.len() as u64),
        ("Runs", runs_begun(&json) as u64),
        ("Tool calls", sum(sessions, "turns")),
        ("Requests", sum(days, "requests")),
        ("Tokens", sum(days, "tokens")),
        ("Times a limit was reached", trips as u64),
    ];
    let totals = closed["totals"].as_array().unwrap();
    let cost: u64 = days.iter().map(|day| pico(&day["cost_usd"])).sum();
    assert_eq!(pico(&exact(&totals[0][1]).into()), cost);
    for ((label, number), total) in expected.iter().zip(&totals[1..]) {
        assert_eq!((&total[0], exact(&total[1])), (&Value::from(*label), number.to_string()));
    }
    assert!(trips > 20 && cost > 0, "{trips} {cost}");
}

/// Light and dark, in print and on a small screen.
fn is_readable(seen: &Value) {
    for (look, back) in [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)"), ("print", "rgb(255, 255, 255)")]
    {
        let seen = &seen[look];
        assert_eq!(seen["back"], back, "{look}");
        assert!(seen["contrast"].as_f64().unwrap() >= 4.5, "{look}: {}", seen["contrast"]);
        for canvas in seen["canvases"].as_array().unwrap() {
            assert!(
                canvas["bars"].as_u64().unwrap() > 300 && canvas["inked"].as_u64() > canvas["bars"].as_u64(),
                "{look}: {canvas}"
            );
        }
        let histograms = seen["histograms"].as_array().unwrap();
        assert!(histograms.len() >= 6 && histograms.iter().all(|it| it["bars"].as_u64().unwrap() > 0), "{look}");
        assert!(histograms.iter().any(|it| it["limits"].as_u64().unwrap() > 0), "{look}: limits are drawn in");
        assert_eq!(seen["canvases"].as_array().unwrap().len(), 2, "{look}");
    }
    for look in ["light", "dark", "print", "narrow"] {
        assert_eq!(seen[look]["over"], 0, "{look}: nothing is cut off at the side");
    }
    assert_eq!(seen["print"]["controls"], 0, "what cannot be pressed is not printed");
    assert_eq!(seen["chosen"]["back"], "rgb(255, 255, 255)", "a person's choice beats the system's");
    assert_eq!(seen["pdf"]["kind"], "%PDF-");
    assert!((2..200).contains(&seen["pdf"]["pages"].as_u64().unwrap()), "{}", seen["pdf"]);
}

#[test]
fn a_page_of_recorded_sessions_says_and_draws_what_the_report_has() {
    let Some(chromium) = chromium() else { return };
    let state = two_weeks();
    let page = state.page(OVER_MS);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("Permission is hereby granted") && text.contains("Leon Sorokin"), "the licence is in it");
    let seen = open(&chromium, &page, "read", None);
    is_quiet(&seen);
    same_numbers(&state, &seen);
    is_readable(&seen);
    let keys = open(&chromium, &page, "keys", None);
    is_quiet(&keys);
    obeys_the_keyboard(&keys);
}

fn obeys_the_keyboard(seen: &Value) {
    assert!(seen["tabs"].as_u64().unwrap() < 16, "from the filter over the heads to the first session: {seen}");
    let (before, entered, left, next) = (&seen["before"], &seen["entered"], &seen["left"], &seen["next"]);
    assert_eq!((&before["open"], &before["runs"]), (&"false".into(), &0.into()), "{before}");
    assert_ne!(before["seen"], "none", "what has the focus is seen to have it");
    assert_eq!(entered["open"], "true", "{entered}");
    assert!(entered["runs"].as_u64().unwrap() > 0, "Enter opens the timeline: {entered}");
    assert_eq!((&left["open"], &left["runs"]), (&"false".into(), &0.into()), "Enter closes it: {left}");
    assert_ne!(next["session"], before["session"], "an arrow goes on");
    assert_eq!(seen["none"], "No session has these words.");
    assert!(seen["found"].as_str().unwrap().ends_with("sessions"), "{seen}");
}

/// Where a plan pays, dollars are no bill: tokens stand before them, and they are called list price.
#[test]
fn on_a_plan_tokens_come_first() {
    let Some(chromium) = chromium() else { return };
    let state = State::new(r#"{"billing": "plan"}"#);
    state.play(&recordings()[0], 0, BEGAN_MS, "/home/you/shop");
    let seen = open(&chromium, &state.page(OVER_MS), "read", None);
    is_quiet(&seen);
    let closed = &seen["closed"];
    let labels: Vec<&str> = closed["totals"].as_array().unwrap().iter().filter_map(|total| total[0].as_str()).collect();
    assert_eq!(labels[..2], ["Tokens", "List price, USD"]);
    let day = &state.json(OVER_MS, &["--by", "day"])["days"][0];
    let row = &rows(closed, "Day")[0];
    assert_eq!(
        (exact(&row[1]), exact(&row[2])),
        (day["tokens"].to_string(), day["cost_usd"].as_str().unwrap().to_owned())
    );
}

/// Nothing has happened yet behind the last bar: the axis ends there, also where bars are few.
#[test]
fn no_axis_goes_on_into_the_future() {
    let Some(chromium) = chromium() else { return };
    let warns = r#"{"max_turns": 1, "timeout_action": "warn"}"#;
    let state = State::new(&format!(r#"{{"main": {warns}, "agents": {{"*": {warns}}}}}"#));
    state.play(&recordings()[0], 0, BEGAN_MS, "/home/you/shop");
    let seen = open(&chromium, &state.page(BEGAN_MS + HOUR_MS), "read", None);
    is_quiet(&seen);
    let axes = seen["axes"].as_array().unwrap();
    assert_eq!(axes.len(), 2, "days, and hours in which limits were reached: {seen}");
    for (axis, step) in axes.iter().zip([86_400.0, 3_600.0]) {
        let [from, until, last] = ["from", "until", "last"].map(|key| axis[key].as_f64().unwrap());
        assert!(until - last < step && last - from > 4.0 * step, "{axis}");
    }
}
