//! The columns of sessions, and their CSV.

use crate::domain::spend::amount::Amount;
use crate::report::columns::{self, ReportColumn, Shown, Value};
use crate::report::csv;
use crate::report::model::{Report, SessionReport};
use crate::ui::style::tokens;
use crate::ui::table::{Align, Column};
use crate::wire::messages::short;

/// The column of list prices.
pub const COST: &str = "cost_usd";
/// The column of them without copies.
pub const NEW_COST: &str = "new_cost_usd";

/// The columns of a session, in the order of CSV.
pub static SESSIONS: [ReportColumn<SessionReport>; 12] = [
    ReportColumn {
        name: "session_id",
        shown: Shown::text(2, "SESSION", 0, |it, _| short(&it.session_id).to_owned()),
        says: "the client's id of it",
        value: |it| Value::Text(it.session_id.clone()),
    },
    ReportColumn {
        name: "project",
        shown: Some(Shown {
            place: 3,
            column: Column::new("PROJECT", Align::Path, 5),
            cell: |it, _| it.project.clone(),
        }),
        says: "the project's folder",
        value: |it| Value::Text(it.project.clone()),
    },
    ReportColumn {
        name: "status",
        shown: Shown::text(4, "STATUS", 1, |it, _| it.standing().0.to_owned()),
        says: "where it stands",
        value: |it| Value::Text(it.stands.as_str().to_owned()),
    },
    ReportColumn {
        name: "started_at",
        shown: Shown::text(1, "STARTED", 3, |it, terminal| terminal.zone.minute(it.started_at.0)),
        says: "its first event",
        value: |it| Value::Text(it.started_at.text()),
    },
    ReportColumn {
        name: COST,
        shown: Shown::figure(9, "COST", 0, |it, _| estimate(it) + &it.cost_usd.0.to_string()),
        says: "list price; headed LIST PRICE where a plan pays (`billing`)",
        value: |it| Value::Usd(it.cost_usd),
    },
    ReportColumn {
        name: NEW_COST,
        shown: Shown::figure(10, "NEW", 0, |it, _| it.new_cost_usd.0.to_string()),
        says: "list price without what a fork or resume copied",
        value: |it| Value::Usd(it.new_cost_usd),
    },
    ReportColumn {
        name: "client_cost_usd",
        shown: Shown::figure(11, "CLIENT", 9, |it, _| {
            it.client_cost_usd.map(|cost| cost.0.to_string()).unwrap_or_default()
        }),
        says: "the client's own total",
        value: |it| it.client_cost_usd.map_or(Value::Unknown, Value::Usd),
    },
    ReportColumn {
        name: "turns",
        shown: Shown::figure(6, "TOOL CALLS", 6, |it, _| it.turns.to_string()),
        says: "calls of tools",
        value: |it| Value::Count(it.turns),
    },
    ReportColumn {
        name: "requests",
        shown: Shown::figure(7, "REQUESTS", 8, |it, _| it.requests.to_string()),
        says: "responses of models",
        value: |it| Value::Count(it.requests),
    },
    ReportColumn {
        name: "tokens",
        shown: Shown::figure(8, "TOKENS", 4, |it, _| tokens(it.tokens)),
        says: "input, cache-write and output tokens",
        value: |it| Value::Count(it.tokens),
    },
    ReportColumn {
        name: "runs",
        shown: Shown::figure(5, "RUNS", 7, |it, _| it.runs_begun().to_string()),
        says: "runs that began, those of the main agent among them",
        value: |it| Value::Count(it.runs_begun() as u64),
    },
    ReportColumn {
        name: "trips",
        shown: None,
        says: "limits that its runs reached; in JSON each run has its own",
        value: |it| Value::Count(it.trips().len() as u64),
    },
];

/// Writes one line of CSV for each session.
pub fn csv(report: &Report) -> String {
    csv::lines(columns::csv_head(&SESSIONS), report.sessions.iter().map(|it| columns::csv_row(&SESSIONS, it)))
}

/// Marks a cost that is partly estimated.
fn estimate(session: &SessionReport) -> String {
    if session.estimated_cost_usd.0 > Amount::ZERO { "~".to_owned() } else { String::new() }
}
