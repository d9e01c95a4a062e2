//! `fusebox explain` as text: what happened to a run or session, under whose rule, and what would have helped.

use crate::engine::account;
use crate::engine::event::Moment;
use crate::engine::record::{Charge, RecordKind};
use crate::engine::session::{Run, Status};
use crate::limits::{self, Limit, Meter, Stage};
use crate::report::advice;
use crate::report::bars::bars;
use crate::report::lines;
use crate::report::model::{Report, RunReport, SessionReport, Trip, meters_of_run, project, sum};
use crate::report::page::{Ink, Page, plain, tokens};
use crate::report::rows::{Logged, SessionRows};
use crate::report::status::{self, Show, standing};
use crate::wire::sentences::short;

/// What a story is told from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The session.
    pub rows: &'a SessionRows,
    /// Runs of the same agent type in any session, for comparison.
    pub peers: &'a [Run],
    /// The moment it is told at.
    pub now: Moment,
}

/// Tells of a session: its runs, and everything that its log says.
pub fn session(source: &Source, page: &Page) -> String {
    let report = Report::of(std::slice::from_ref(source.rows), source.now);
    let mut text = status::text(&report, Show::All, page);
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
    let report = Report::of(std::slice::from_ref(source.rows), source.now);
    let found = source.rows.runs.iter().find(|run| run.id == id);
    let told = report.sessions.iter().flat_map(|session| &session.runs).find(|run| run.run_id == id);
    let (Some(run), Some(told)) = (found, told) else { return String::new() };
    let mut text = title(source.rows, told, page);
    if !told.limits.is_empty() {
        text.push_str(&heading("Limits", page));
        text.push_str(&bars(&told.limits, "  ", page));
    }
    text.push_str(&heading("Timeline", page));
    let records: Vec<Logged> = source.rows.records.iter().filter(|it| it.record.run == id).cloned().collect();
    let charges: Vec<Charge> = source.rows.charges.iter().filter(|it| it.run == id).cloned().collect();
    text.push_str(&timeline(run.started.wall_ms, (&records, &charges), page));
    text.push_str(&line(run.last.wall_ms, Ink::Plain, &format!("last event; {}", run.status.as_str()), page));
    for tripped in told.trips.iter().filter(|tripped| trip.is_none_or(|number| tripped.number == number)) {
        text.push_str(&heading(&format!("Trip #{}", tripped.number), page));
        text.push_str(&why(told, tripped, page));
        text.push_str(&page.wrap("  ", &helps(source, run, tripped)));
    }
    if let Some(order) = &told.order {
        let id = match order.finding.scope {
            crate::engine::policy::Scope::Run => &told.run_id,
            crate::engine::policy::Scope::Session => &source.rows.session.id,
        };
        text.push_str(&heading("Next", page));
        text.push_str(&page.wrap("  ", &advice::lifts(order, id)));
    }
    text
}

fn heading(words: &str, page: &Page) -> String {
    format!("\n{}\n", page.paint(Ink::Bold, words))
}

fn title(rows: &SessionRows, run: &RunReport, page: &Page) -> String {
    let head = page.paint(Ink::Bold, &format!("{} {}", plain(&run.agent_type), plain(&run.run_id)));
    let mut text = format!("{head}  {}\n", standing(run.status, page));
    let of = format!("session {}, project {}", short(&rows.session.id), plain(&project(&rows.session)));
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
        text.push_str(&line(logged.at_ms, lines::ink(&logged.record), &entry(logged), page));
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
    let about = match (lines::figures(record), &record.reason) {
        (Some(figures), _) if record.event == Some(RecordKind::LimitGranted) => figures,
        (Some(figures), _) => format!("{figures}, {}, {}", record.action, record.layer),
        (None, Some(reason)) => plain(reason),
        (None, None) => plain(&record.error),
    };
    format!("#{} {}: {about}", logged.number, lines::name(record))
}

fn why(run: &RunReport, trip: &Trip, page: &Page) -> String {
    let Some(limit) = limits::find(trip.limit) else { return String::new() };
    let show = |value: Option<crate::report::value::Quantity>| value.map(|it| it.show()).unwrap_or_default();
    let over = if trip.scope == "session" { " of the whole session" } else { "" };
    let owner = crate::engine::policy::LAYERS.iter().find(|row| row.1 == trip.layer).map_or("", |row| row.2);
    let did = match trip.action.as_str() {
        "warn" => "the limit only warns, and work went on",
        "pause" => "the run was paused and its work kept",
        _ => "the run was stopped and its work is partial",
    };
    let sentence = format!(
        "{} ({}) used {} {}{over}; the cap of {} was set by {owner}. Its action is {}: {did}.",
        plain(&run.agent_type),
        short(&run.run_id),
        show(trip.used),
        limit.label,
        show(trip.cap),
        trip.action
    );
    page.wrap("  ", &sentence)
}

/// Says what would have helped: the largest need of runs of this type that came to their end by themselves.
fn helps(source: &Source, run: &Run, trip: &Trip) -> String {
    let (Some(limit), Some(cap)) = (limits::find(trip.limit), trip.cap) else { return String::new() };
    if trip.scope == "session" {
        let need = source.rows.session.rules.get(limit).map_or(cap.value, |rule| rule.cap).max(cap.value);
        return format!(
            "The cap is the whole session's; `fusebox grant {} {}` gives more.",
            id_of(source),
            more(limit, need)
        );
    }
    let done = source.peers.iter().filter(|peer| peer.status == Status::Completed && peer.tally.turns > 0);
    let needs: Vec<u64> = done.map(|peer| need(limit, peer, source.now)).collect();
    let kind = plain(&run.agent_type);
    let runs = match needs.len() {
        1 => format!("the one {kind} run"),
        count => format!("all {count} {kind} runs"),
    };
    match needs.iter().max() {
        None => format!("No {kind} run has come to its end yet, so how much one needs is not known."),
        Some(most) if *most > cap.value => {
            format!("A cap of {} would have sufficed for {runs} that came to an end.", limit_text(limit, *most))
        }
        Some(most) => format!(
            "A cap of {} sufficed for {runs} that came to an end: look at what this one was doing before giving it more.",
            limit_text(limit, *most)
        ),
    }
}

fn id_of<'a>(source: &Source<'a>) -> &'a str {
    short(&source.rows.session.id)
}

fn more(limit: &Limit, cap: u64) -> String {
    advice::more(limit, (cap / 2).max(1))
}

/// Returns a cap as it is configured.
fn limit_text(limit: &Limit, value: u64) -> String {
    format!("{} ({}: {})", limit.show(value), limit.key, advice::typed(limit, value))
}

/// Returns the smallest cap that would have let a run come to its end.
fn need(limit: &Limit, run: &Run, now: Moment) -> u64 {
    let used = limit.used(&meters_of_run(run, now));
    match &limit.meter {
        Meter::Spend(part) => {
            let ahead = part(&account::estimate(run, &run.rules)).saturating_mul(u64::from(run.rules.grace_turns));
            used.saturating_add(ahead)
        }
        Meter::Step { adds, .. } => used.saturating_add(adds(Stage::Request).unwrap_or(0)),
    }
}
