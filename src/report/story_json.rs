//! `fusebox explain --json`: a session or run with its log, why its limits tripped, and what would have helped.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::domain::billing::Billing;
use crate::domain::frees::Frees;
use crate::report::explanation::{helps, why};
use crate::report::log_lines;
use crate::report::model::{Report, SessionReport, VERSION};
use crate::report::rows::TimelineSource;
use crate::report::timeline;
use crate::ui::json;

/// What of a session is told.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The run; `None` for all of them.
    pub run: Option<&'a str>,
    /// The number of the trip that was asked about; `None` for all of them.
    pub trip: Option<i64>,
}

/// The whole story.
#[derive(Serialize)]
struct Story {
    version: u32,
    session: SessionReport,
    timeline: Vec<Box<RawValue>>,
    trips: Vec<Explained>,
}

/// One trip in sentences.
#[derive(Serialize)]
struct Explained {
    id: i64,
    run_id: String,
    limit: String,
    why: String,
    helps: String,
    next: Option<String>,
}

/// Writes that nothing has tripped yet.
pub fn nothing() -> String {
    format!("{:#}\n", serde_json::json!({ "version": VERSION, "session": null, "timeline": [], "trips": [] }))
}

/// Writes what is told, with the same sessions, runs and records as `report --json` and `log --json`.
pub fn text(source: &TimelineSource, told: &Told) -> String {
    let mut report = Report::of(std::slice::from_ref(source.rows), source.budgets, source.now);
    let Some(mut session) = report.sessions.pop() else { return String::new() };
    let is_told = |run: &str| told.run.is_none_or(|wanted| wanted == run);
    session.runs.retain(|run| is_told(&run.run_id));
    let trips = session.trips().into_iter().filter(|(_, trip)| told.trip.is_none_or(|number| trip.number == number));
    let trips = trips.map(|(run, trip)| Explained {
        id: trip.number,
        run_id: run.run_id.clone(),
        limit: trip.limit.clone(),
        why: why(run, trip, trip.frees.clone().map(Frees::from), Billing::default()),
        helps: source
            .rows
            .runs
            .iter()
            .find(|it| it.id == run.run_id)
            .map_or_else(String::new, |it| helps(source, it, trip)),
        next: timeline::next(source, run, None),
    });
    let trips = trips.collect();
    let records = source.rows.records.iter().filter(|logged| is_told(&logged.record.run));
    let timeline = records.filter_map(|logged| RawValue::from_string(log_lines::json(logged)).ok()).collect();
    json::text(&Story { version: VERSION, session, timeline, trips })
}
