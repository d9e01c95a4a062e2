//! `fusebox explain` as text: what happened to a run or session, under whose rule, and what would have helped.

use crate::domain::charge::{Charge, RecordKind};
use crate::domain::policy::Scope;
use crate::report::bars::bars;
use crate::report::explanation::{helps, why};
use crate::report::log_lines;
use crate::report::model::{Report, RunReport, SessionReport, sum};
use crate::report::rows::{Logged, SessionRows, Source, project};
use crate::report::status::{self, Show, standing};
use crate::report::suggestion;
use crate::ui::style::{Ink, Page, plain, tokens};
use crate::wire::messages::short;

/// Tells of a session: its runs, and everything that its log says.
pub fn session(source: &Source, page: &Page) -> String {
    let report = Report::of(std::slice::from_ref(source.rows), &[], source.now);
    let mut text = status::sessions(&report, Show::All, page);
    text.push_str(&heading("Timeline", page));
    let began = source.rows.session.started.wall_ms;
    text.push_str(&timeline(began, (&source.rows.records, &source.rows.charges), page));
    for (run, trip) in report.sessions.iter().flat_map(SessionReport::trips) {
        text.push_str(&heading(&format!("Trip #{}", trip.number), page));
        text.push_str(&why(run, trip, page));
    }
    text
}

/// Tells of one run; `trip` is the record asked about, where one was.
pub fn run(source: &Source, id: &str, trip: Option<i64>, page: &Page) -> String {
    let report = Report::of(std::slice::from_ref(source.rows), &[], source.now);
    let found = source.rows.runs.iter().find(|run| run.id == id);
    let told = report.sessions.iter().flat_map(|session| &session.runs).find(|run| run.run_id == id);
    let (Some(run), Some(told)) = (found, told) else { return String::new() };
    let mut text = title(source.rows, told, page);
    let limits = bars(&told.limits, "  ", page);
    if !limits.is_empty() {
        text.push_str(&heading("Limits", page));
        text.push_str(&limits);
    }
    text.push_str(&heading("Timeline", page));
    let records: Vec<Logged> = source.rows.records.iter().filter(|it| it.record.run == id).cloned().collect();
    let charges: Vec<Charge> = source.rows.charges.iter().filter(|it| it.run == id).cloned().collect();
    let (before, after): (Vec<Logged>, Vec<Logged>) =
        records.into_iter().partition(|logged| logged.at_ms <= run.last.wall_ms);
    text.push_str(&timeline(run.started.wall_ms, (&before, &charges), page));
    text.push_str(&line(run.last.wall_ms, Ink::Plain, &format!("last event; {}", run.status.as_str()), page));
    for logged in &after {
        text.push_str(&line(logged.at_ms, log_lines::ink(&logged.record), &entry(logged), page));
    }
    for tripped in told.trips.iter().filter(|tripped| trip.is_none_or(|number| tripped.number == number)) {
        text.push_str(&heading(&format!("Trip #{}", tripped.number), page));
        text.push_str(&why(told, tripped, page));
        text.push_str(&page.wrap("  ", &helps(source, run, tripped)));
    }
    if let Some(order) = &told.order {
        let session = &source.rows.session;
        let id = match (order.finding.scope, &session.outer) {
            (Scope::Session, _) => &session.id,
            (Scope::Outer, _) if !order.finding.above.is_empty() => &order.finding.above,
            (Scope::Outer, Some(outer)) => outer,
            _ => &told.run_id,
        };
        text.push_str(&heading("Next", page));
        text.push_str(&page.wrap("  ", &suggestion::lifts(order, Some(told), id)));
    }
    text
}

fn heading(words: &str, page: &Page) -> String {
    format!("\n{}\n", page.paint(Ink::Bold, words))
}

fn title(rows: &SessionRows, run: &RunReport, page: &Page) -> String {
    let head = page.paint(Ink::Bold, &format!("{} {}", plain(&run.agent_type), plain(&run.run_id)));
    let mut text = format!("{head}  {}\n", standing(run.status, page));
    let of = format!("session {}, project {}", short(&rows.session.id), plain(project(&rows.session.project)));
    text.push_str(&page.wrap("  ", &of));
    if let Some(parent) = &run.parent_run_id {
        let kind = rows.runs.iter().find(|other| other.id == *parent).map_or("run", |other| &other.agent_type);
        text.push_str(&page.wrap("  ", &format!("spawned by {} {}, depth {}", plain(kind), short(parent), run.depth)));
    }
    if let Some(task) = &run.task {
        text.push_str(&page.wrap("  ", &format!("task {}", plain(task))));
    }
    if let Some(error) = &run.error {
        text.push_str(&page.wrap("  ", &plain(error)));
    }
    text
}

/// Writes records in their order, and what was spent between them.
fn timeline(began_ms: i64, rows: (&[Logged], &[Charge]), page: &Page) -> String {
    let (records, charges) = rows;
    let mut text = line(began_ms, Ink::Plain, "began", page);
    let mut told = 0;
    for logged in records {
        let until = charges.partition_point(|charge| charge.at_ms <= logged.at_ms).max(told);
        text.push_str(&spent(&charges[told..until], page));
        told = until;
        text.push_str(&line(logged.at_ms, log_lines::ink(&logged.record), &entry(logged), page));
    }
    text.push_str(&spent(&charges[told..], page));
    text
}

fn spent(charges: &[Charge], page: &Page) -> String {
    let Some(last) = charges.last() else { return String::new() };
    let sum = sum(charges.iter());
    let count = if sum.requests == 1 { "request" } else { "requests" };
    let words = format!("{} {count}, {} tokens, {}", sum.requests, tokens(sum.tokens), sum.cost);
    line(last.at_ms, Ink::Dim, &words, page)
}

fn line(at_ms: i64, ink: Ink, words: &str, page: &Page) -> String {
    let text = page.wrap("  ", &format!("{} {words}", page.second(at_ms)));
    text.lines().map(|line| page.paint(ink, line) + "\n").collect()
}

fn entry(logged: &Logged) -> String {
    let record = &logged.record;
    let about = match log_lines::figures(record) {
        Some(figures) if record.event == Some(RecordKind::LimitGranted) => figures,
        Some(figures) => format!("{figures}, {}, {}", log_lines::did(record), record.layer),
        None => plain(&log_lines::told(record)),
    };
    format!("#{} {}: {about}", logged.number, log_lines::name(record))
}
