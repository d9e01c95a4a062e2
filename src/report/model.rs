//! The model of a report: sessions and runs with what they spent, what remains and what tripped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::engine::event::Moment;
use crate::engine::meters::{Meters, Spend};
use crate::engine::policy::{Action, Rule, Rules};
use crate::engine::record::{Charge, RecordKind};
use crate::engine::session::{Order, Run, Session, Status, Tally};
use crate::limits;
use crate::report::rows::{Logged, SessionRows};
use crate::report::value::{Quantity, Stamp, Usd};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// Sessions, the newest first.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of the JSON form.
    pub version: u32,
    /// The sessions.
    pub sessions: Vec<SessionReport>,
}

/// One session.
#[derive(Debug, Serialize)]
pub struct SessionReport {
    /// The client's id of it.
    pub session_id: String,
    /// The project's folder.
    pub project: String,
    /// Where it stands.
    pub status: Status,
    /// When it was first seen.
    pub started_at: Stamp,
    /// List price of every response in its transcripts, those that a fork or resume copied included.
    pub cost_usd: Usd,
    /// List price of the responses that it billed itself: in sums over sessions each response counts once.
    pub new_cost_usd: Usd,
    /// The client's own total, where it wrote one.
    pub client_cost_usd: Option<Usd>,
    /// Tool calls.
    pub turns: u64,
    /// Model responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// What is left under each of the session's limits.
    pub remaining: BTreeMap<&'static str, Quantity>,
    /// The session's limits.
    pub limits: Vec<Reading>,
    /// Its runs, the oldest first.
    pub runs: Vec<RunReport>,
    /// The order that ends or holds it.
    #[serde(skip)]
    pub order: Option<Order>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Its id.
    pub run_id: String,
    /// The agent's type; `main` for the main agent.
    pub agent_type: String,
    /// The run that spawned it.
    pub parent_run_id: Option<String>,
    /// How deep it is; main is 0.
    pub depth: u32,
    /// Where it stands.
    pub status: Status,
    /// Machine-readable reason of a stop.
    pub stop_reason: Option<String>,
    /// The sentence of a stop.
    pub error: Option<String>,
    /// When it began.
    pub started_at: Stamp,
    /// Tool calls.
    pub turns: u64,
    /// Model responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Working time in milliseconds.
    pub duration_ms: u64,
    /// List price of its responses.
    pub cost_usd: Usd,
    /// What each model's responses spent.
    pub models: BTreeMap<String, ModelReport>,
    /// What is left under each of its limits.
    pub remaining: BTreeMap<&'static str, Quantity>,
    /// Its limits.
    pub limits: Vec<Reading>,
    /// The limits that it reached, the oldest first.
    pub trips: Vec<Trip>,
    /// The order that ends or holds it.
    #[serde(skip)]
    pub order: Option<Order>,
    /// The task it works on.
    #[serde(skip)]
    pub task: Option<String>,
}

/// What one model's responses spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ModelReport {
    /// Responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Cache-read tokens.
    pub cache_reads: u64,
    /// List price.
    pub cost_usd: Usd,
}

/// One limit with what is used of it.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// The limit's key.
    pub limit: &'static str,
    /// What is used.
    pub used: Quantity,
    /// The cap.
    pub cap: Quantity,
    /// What it does when it trips.
    pub action: Action,
    /// Whose rule it is.
    pub layer: crate::engine::policy::Layer,
}

/// A limit that was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Trip {
    /// The limit's key.
    pub limit: &'static str,
    /// What it did.
    pub action: String,
    /// What was used; the attempt that tripped it is not counted.
    pub used: Option<Quantity>,
    /// The cap at the time.
    pub cap: Option<Quantity>,
    /// Whose rule it was.
    pub layer: String,
    /// When.
    pub at: Stamp,
    /// The record's number.
    #[serde(skip)]
    pub number: i64,
    /// What it is counted over.
    #[serde(skip)]
    pub scope: String,
}

impl Report {
    /// Makes the report of sessions, as they stand at `now`.
    pub fn of(rows: &[SessionRows], now: Moment) -> Report {
        let mut sessions: Vec<SessionReport> = rows.iter().map(|rows| SessionReport::of(rows, now)).collect();
        sessions.sort_by(|a, b| (b.started_at, &a.session_id).cmp(&(a.started_at, &b.session_id)));
        Report { version: VERSION, sessions }
    }
}

impl SessionReport {
    fn of(rows: &SessionRows, now: Moment) -> SessionReport {
        let session = &rows.session;
        let spent = sum(rows.charges.iter());
        let runs: Vec<RunReport> = rows.runs.iter().map(|run| RunReport::of(run, rows, now)).collect();
        let limits = readings(&session.rules, &meters_of_session(rows, now));
        SessionReport {
            session_id: session.id.clone(),
            project: project(session),
            status: session.status,
            started_at: Stamp(session.started.wall_ms),
            cost_usd: Usd(spent.cost),
            new_cost_usd: Usd(sum(rows.charges.iter().filter(|charge| !charge.inherited)).cost),
            client_cost_usd: session.client_cost.map(|pico| Usd(crate::engine::amount::Amount(pico))),
            turns: session.tally.turns.max(rows.calls.values().sum()),
            requests: spent.requests,
            tokens: spent.tokens,
            remaining: remaining(&limits),
            limits,
            runs,
            order: session.order.clone(),
        }
    }

    /// Returns every trip of its runs, the oldest first, each with its run.
    pub fn trips(&self) -> Vec<(&RunReport, &Trip)> {
        let mut trips: Vec<_> =
            self.runs.iter().flat_map(|run| run.trips.iter().map(move |trip| (run, trip))).collect();
        trips.sort_by_key(|(_, trip)| trip.number);
        trips
    }
}

impl RunReport {
    fn of(run: &Run, rows: &SessionRows, now: Moment) -> RunReport {
        let charges: Vec<&Charge> = rows.charges.iter().filter(|charge| charge.run == run.id).collect();
        let spent = sum(charges.iter().copied());
        let meters = meters_of_run(run, now);
        let limits = readings(&run.rules, &meters);
        RunReport {
            run_id: run.id.clone(),
            agent_type: run.agent_type.clone(),
            parent_run_id: run.parent.clone(),
            depth: run.depth,
            status: run.status,
            stop_reason: run.stop_reason.clone(),
            error: run.error.clone(),
            started_at: Stamp(run.started.wall_ms),
            turns: run.tally.turns.max(rows.calls.get(&run.id).copied().unwrap_or(0)),
            requests: spent.requests,
            tokens: spent.tokens,
            duration_ms: meters.duration_ms,
            cost_usd: Usd(spent.cost),
            models: models(charges.into_iter()),
            remaining: remaining(&limits),
            limits,
            trips: rows.records.iter().filter(|logged| logged.record.run == run.id).filter_map(trip).collect(),
            order: run.order.clone(),
            task: run.task.clone(),
        }
    }
}

/// Returns the folder of a session's project.
pub fn project(session: &Session) -> String {
    session.project.strip_suffix("/.git").unwrap_or(&session.project).to_owned()
}

/// Sums what responses spent.
pub fn sum<'a>(charges: impl Iterator<Item = &'a Charge>) -> Spend {
    charges.map(|charge| charge.spend).fold(Spend::default(), std::ops::Add::add)
}

fn models<'a>(charges: impl Iterator<Item = &'a Charge>) -> BTreeMap<String, ModelReport> {
    let mut models: BTreeMap<String, Spend> = BTreeMap::new();
    for charge in charges {
        *models.entry(charge.model.clone()).or_default() += charge.spend;
    }
    let report = |spent: Spend| ModelReport {
        requests: spent.requests,
        tokens: spent.tokens,
        cache_reads: spent.cache_reads,
        cost_usd: Usd(spent.cost),
    };
    models.into_iter().map(|(model, spent)| (model, report(spent))).collect()
}

/// Returns a run's meters at `now`, or at its last event where it is not at work.
pub fn meters_of_run(run: &Run, now: Moment) -> Meters {
    let at = if run.status == Status::Running { now } else { run.last };
    let since = if run.working && run.status == Status::Running { now.since(run.last) } else { 0 };
    let tally = Tally { duration_ms: run.tally.duration_ms + since, ..run.tally };
    meters(&run.rules, tally, at.wall_since(run.started))
}

fn meters_of_session(rows: &SessionRows, now: Moment) -> Meters {
    let session = &rows.session;
    let at = if session.status == Status::Running { now } else { session.last };
    meters(&session.rules, session.tally, at.wall_since(session.started))
}

fn meters(rules: &Rules, tally: Tally, wall_ms: u64) -> Meters {
    Meters {
        turns: tally.turns,
        spent: tally.spent.counting_cache_reads(rules.count_cache_reads),
        duration_ms: tally.duration_ms,
        wall_ms,
        ..Meters::default()
    }
}

fn readings(rules: &Rules, meters: &Meters) -> Vec<Reading> {
    let reading = |rule: &Rule| Reading {
        limit: rule.limit.key,
        used: Quantity { limit: rule.limit, value: rule.limit.used(meters) },
        cap: Quantity { limit: rule.limit, value: rule.cap },
        action: rule.action,
        layer: rule.layer,
    };
    rules.rules.iter().map(reading).collect()
}

fn remaining(limits: &[Reading]) -> BTreeMap<&'static str, Quantity> {
    let left = |reading: &Reading| reading.cap.value.saturating_sub(reading.used.value);
    let row = |reading: &Reading| (reading.limit, Quantity { limit: reading.cap.limit, value: left(reading) });
    limits.iter().map(row).collect()
}

/// Returns the trip that a record tells of; early warnings and a person's orders are none.
fn trip(logged: &Logged) -> Option<Trip> {
    let record = &logged.record;
    let tells = matches!(
        record.event,
        Some(RecordKind::AgentFailed | RecordKind::AgentPaused | RecordKind::AgentWarning | RecordKind::AgentStopped)
    );
    let limit = limits::find(&record.limit).filter(|_| tells && record.percent.is_none())?;
    let quantity = |number: Option<f64>| Some(Quantity { limit, value: limit.base(number?)? });
    Some(Trip {
        limit: limit.key,
        action: record.action.clone(),
        used: quantity(record.used),
        cap: quantity(record.cap),
        layer: record.layer.clone(),
        at: Stamp(logged.at_ms),
        number: logged.number,
        scope: record.scope.clone(),
    })
}
