//! Sessions and runs as columns: a list for each figure in place of an object for each run, so that many stay small.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::calendar::Zone;
use crate::report::html::words::{Pico, Words};
use crate::report::model::Report;
use crate::report::run_report::RunReport;
use crate::ui::terminal::plain;

/// The sessions, the newest first.
#[derive(Debug, Default, Serialize)]
pub struct SessionColumns {
    id: Vec<String>,
    started: Vec<String>,
    project: Vec<i32>,
    status: Vec<i32>,
    first_run: Vec<usize>,
    runs: Vec<usize>,
    /// Runs but for prompts that were not sent.
    begun: Vec<usize>,
    turns: Vec<u64>,
    requests: Vec<u64>,
    tokens: Vec<u64>,
    trips: Vec<usize>,
    cost: Vec<Pico>,
    new_cost: Vec<Pico>,
    /// The client's own total; `None` where it wrote none.
    client: Vec<Option<Pico>>,
}

/// The runs of all sessions, those of a session together; times are milliseconds.
#[derive(Debug, Default, Serialize)]
pub struct RunColumns {
    id: Vec<String>,
    kind: Vec<i32>,
    /// The place of the run above among the session's; -1 where there is none.
    parent: Vec<i64>,
    status: Vec<i32>,
    /// -1 where nothing has stopped it.
    reason: Vec<i32>,
    /// After the session's beginning.
    start: Vec<i64>,
    ms: Vec<u64>,
    turns: Vec<u64>,
    requests: Vec<u64>,
    tokens: Vec<u64>,
    cost: Vec<Pico>,
    models: Vec<Vec<i32>>,
}

/// Lists the sessions, and their runs.
pub fn sessions(report: &Report, zone: &Zone, words: &mut Words) -> (SessionColumns, RunColumns) {
    let (mut columns, mut runs) = (SessionColumns::default(), RunColumns::default());
    for session in &report.sessions {
        columns.id.push(plain(&session.session_id));
        columns.started.push(zone.minute(session.started_at.0));
        columns.project.push(words.number(&session.project));
        columns.status.push(words.number(session.standing().0));
        columns.first_run.push(runs.id.len());
        columns.runs.push(session.runs.len());
        columns.begun.push(session.runs_begun());
        columns.turns.push(session.turns);
        columns.requests.push(session.requests);
        columns.tokens.push(session.tokens);
        columns.trips.push(session.runs.iter().map(|run| run.trips.len()).sum());
        columns.cost.push(session.cost_usd.0.into());
        columns.new_cost.push(session.new_cost_usd.0.into());
        columns.client.push(session.client_cost_usd.map(|cost| cost.0.into()));
        let places: BTreeMap<&str, i64> = session.runs.iter().map(|run| run.run_id.as_str()).zip(0..).collect();
        for run in &session.runs {
            let parent = run.parent_run_id.as_deref().and_then(|parent| places.get(parent).copied());
            runs.push(run, parent, session.started_at.0, words);
        }
    }
    (columns, runs)
}

impl RunColumns {
    fn push(&mut self, run: &RunReport, parent: Option<i64>, began_ms: i64, words: &mut Words) {
        self.id.push(plain(&run.run_id));
        self.kind.push(words.number(run.kind()));
        self.parent.push(parent.unwrap_or(-1));
        self.status.push(words.number(run.standing()));
        self.reason.push(run.reason.as_deref().map_or(-1, |reason| words.number(reason)));
        self.start.push((run.started_at.0 - began_ms).max(0));
        self.ms.push(run.duration_ms);
        self.turns.push(run.turns);
        self.requests.push(run.requests);
        self.tokens.push(run.tokens);
        self.cost.push(run.cost_usd.0.into());
        self.models.push(run.models.keys().map(|model| words.number(model)).collect());
    }
}
