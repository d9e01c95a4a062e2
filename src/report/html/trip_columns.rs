//! Trips as the page tells of them: each one, how many by limit and action, and how many agents in each hour.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::calendar::Zone;
use crate::domain::stable_sort::sort_by_key;
use crate::report::html::words::Words;
use crate::report::model::Report;
use crate::ui::formats::Quantity;
use crate::ui::terminal::plain;

/// How many agents hit a limit in an hour.
#[derive(Debug, Default, Serialize)]
pub struct HourColumns {
    from: Vec<String>,
    agents: Vec<usize>,
}

/// How many trips each limit had with each action.
#[derive(Debug, Default, Serialize)]
pub struct TripSums {
    limit: Vec<i32>,
    action: Vec<i32>,
    count: Vec<u64>,
}

/// Trips, the latest first.
#[derive(Debug, Default, Serialize)]
pub struct TripColumns {
    number: Vec<i64>,
    at: Vec<String>,
    after_ms: Vec<i64>,
    session: Vec<usize>,
    run: Vec<usize>,
    kind: Vec<i32>,
    limit: Vec<i32>,
    action: Vec<i32>,
    figures: Vec<String>,
    used: Vec<Option<Quantity>>,
    cap: Vec<Option<Quantity>>,
    layer: Vec<i32>,
    observed: Vec<u8>,
}

/// Dialogs that asked a person for more, the latest first.
#[derive(Debug, Default, Serialize)]
pub struct DialogColumns {
    number: Vec<i64>,
    at: Vec<String>,
    session: Vec<usize>,
    kind: Vec<i32>,
    limit: Vec<i32>,
    answer: Vec<i32>,
}

/// Lists all dialogs, the latest first.
pub fn dialogs(report: &Report, zone: &Zone, words: &mut Words) -> DialogColumns {
    let runs =
        report.sessions.iter().enumerate().flat_map(|(at, session)| session.runs.iter().map(move |run| (at, run)));
    let mut rows: Vec<_> = runs.flat_map(|(at, run)| run.dialogs.iter().map(move |asked| (asked, at, run))).collect();
    sort_by_key(&mut rows, |row| std::cmp::Reverse(row.0.number));
    let mut columns = DialogColumns::default();
    for (asked, session, run) in rows {
        columns.number.push(asked.number);
        columns.at.push(zone.second(asked.at.0));
        columns.session.push(session);
        columns.kind.push(words.number(run.kind()));
        columns.limit.push(words.number(&asked.limit));
        columns.answer.push(words.number(asked.answer.as_str()));
    }
    columns
}

/// Counts the agents that hit a limit in each hour, by the clock of the report's zone. A prompt that was not sent is no agent.
pub fn hours(report: &Report, zone: &Zone) -> HourColumns {
    let mut agents: BTreeMap<String, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for session in &report.sessions {
        for (run, trip) in session.trips().into_iter().filter(|(run, _)| !run.is_blocked_prompt()) {
            let hour: String = zone.minute(trip.at.0).chars().take("2026-11-20 10".len()).collect();
            agents.entry(hour + ":00").or_default().insert((&session.session_id, &run.run_id));
        }
    }
    let (from, agents) = agents.into_iter().map(|(hour, runs)| (hour, runs.len())).unzip();
    HourColumns { from, agents }
}

/// Counts trips by limit and action.
pub fn trip_sums(report: &Report, words: &mut Words) -> TripSums {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for trip in report.sessions.iter().flat_map(|session| &session.runs).flat_map(|run| &run.trips) {
        *counts.entry((&trip.limit, &trip.did)).or_default() += 1;
    }
    let mut sums = TripSums::default();
    for ((limit, action), count) in counts {
        sums.limit.push(words.number(limit));
        sums.action.push(words.number(action));
        sums.count.push(count);
    }
    sums
}

/// Lists all trips, the latest first.
pub fn trips(report: &Report, zone: &Zone, words: &mut Words) -> TripColumns {
    let mut rows = Vec::new();
    for (at, session) in report.sessions.iter().enumerate() {
        for (number, run) in session.runs.iter().enumerate() {
            rows.extend(run.trips.iter().map(|trip| (trip, at, number, run, session.started_at.0)));
        }
    }
    sort_by_key(&mut rows, |row| std::cmp::Reverse(row.0.number));
    let mut columns = TripColumns::default();
    for (trip, session, number, run, began_ms) in rows {
        columns.number.push(trip.number);
        columns.at.push(zone.second(trip.at.0));
        columns.after_ms.push((trip.at.0 - began_ms).max(0));
        columns.session.push(session);
        columns.run.push(number);
        columns.kind.push(words.number(run.kind()));
        columns.limit.push(words.number(&trip.limit));
        columns.action.push(words.number(&trip.did));
        columns.figures.push(plain(&trip.reading()));
        columns.used.push(trip.used);
        columns.cap.push(trip.cap);
        columns.layer.push(words.number(&trip.layer));
        columns.observed.push(u8::from(trip.observed));
    }
    columns
}
