//! A replay for programs: JSON of version 1. USD are decimal strings with 12 digits after the point.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::action::Action;
use crate::domain::finding_source::FindingSource;
use crate::domain::layer::Layer;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Status};
use crate::replay::replayed_session::{ReplayedSession, Sums};
use crate::replay::timeline::{Audience, Entry, EntryKind};
use crate::ui::formats::{Quantity, Timestamp, Usd};

/// The version of the JSON form.
const VERSION: u32 = 1;

/// Everything that came of a replay.
#[derive(Serialize)]
pub struct Replay<'a> {
    version: u32,
    sessions: Vec<SessionForm<'a>>,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<Summary>,
}

#[derive(Serialize)]
struct SessionForm<'a> {
    session_id: &'a str,
    source: String,
    began_at: Timestamp,
    lasted_ms: u64,
    recorded: Figures,
    client_cost_usd: Option<Usd>,
    saved: Figures,
    runs_never_started: usize,
    runs: Vec<RunForm<'a>>,
    timeline: Vec<EntryForm<'a>>,
}

#[derive(Serialize)]
struct Figures {
    turns: u64,
    /// The tool calls that Fusebox has refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<u64>,
    /// The tool calls whose dialog a person has answered No.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_no: Option<u64>,
    requests: u64,
    cost_usd: Usd,
}

#[derive(Serialize)]
struct RunForm<'a> {
    run_id: &'a str,
    agent_type: &'a str,
    parent_run_id: Option<&'a str>,
    depth: u32,
    status: Status,
    stop_reason: Option<&'a str>,
    turns: u64,
    requests: u64,
    tokens: u64,
    duration_ms: u64,
    cost_usd: Usd,
}

#[derive(Serialize)]
struct EntryForm<'a> {
    at_ms: u64,
    run_id: &'a str,
    what: EntryKind,
    limit: &'a FindingSource,
    scope: Scope,
    action: Action,
    used: Option<Quantity>,
    cap: Option<Quantity>,
    percent: u8,
    layer: Layer,
    told: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    to: Audience,
    text: &'a str,
}

#[derive(Serialize)]
struct Summary {
    began_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    trips: usize,
    sessions: usize,
    sessions_stopped: usize,
    runs: usize,
    runs_stopped: usize,
    runs_never_started: usize,
    warnings: usize,
    questions: usize,
    recorded: Figures,
    client_cost_usd: Option<Usd>,
    cost_where_client_knows_usd: Usd,
    saved: Figures,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    remarks: BTreeSet<String>,
}

/// Returns the JSON form, with what the built-in defaults come to where a file was given.
pub fn form<'a>(sessions: &'a [ReplayedSession], sums: &Sums, defaults: Option<&Sums>) -> Replay<'a> {
    let sessions = sessions.iter().map(session).collect();
    Replay { version: VERSION, sessions, summary: summary(sums), defaults: defaults.map(summary) }
}

fn session(replayed: &ReplayedSession) -> SessionForm<'_> {
    let recorded = &replayed.recorded;
    SessionForm {
        session_id: &replayed.session.id,
        source: replayed.source.display().to_string(),
        began_at: Timestamp(replayed.session.started.wall_ms),
        lasted_ms: recorded.lasted_ms,
        recorded: Figures {
            turns: recorded.calls,
            refused: Some(recorded.refused),
            answered_no: Some(recorded.answered_no),
            requests: recorded.spent.requests,
            cost_usd: Usd(recorded.spent.cost),
        },
        client_cost_usd: replayed.session.client_cost.map(|cost| Usd(crate::domain::spend::amount::Amount(cost))),
        saved: Figures {
            turns: replayed.calls_saved(),
            refused: None,
            answered_no: None,
            requests: replayed.requests_saved(),
            cost_usd: Usd(replayed.cost_saved()),
        },
        runs_never_started: replayed.never_started,
        runs: replayed.runs.iter().map(run).collect(),
        timeline: replayed.timeline.iter().map(entry).collect(),
    }
}

fn run(run: &Run) -> RunForm<'_> {
    RunForm {
        run_id: &run.id,
        agent_type: &run.agent_type,
        parent_run_id: run.parent.as_deref(),
        depth: run.depth,
        status: run.status,
        stop_reason: run.stop_reason.as_deref(),
        turns: run.counters.turns,
        requests: run.counters.spent.requests,
        tokens: run.counters.spent.tokens,
        duration_ms: run.counters.duration_ms,
        cost_usd: Usd(run.counters.spent.cost),
    }
}

fn entry(entry: &Entry) -> EntryForm<'_> {
    let finding = &entry.finding;
    let quantity = |value| finding.limit().map(|limit| Quantity { limit, value });
    EntryForm {
        at_ms: entry.at_ms,
        run_id: &entry.run,
        what: entry.what,
        limit: &finding.source,
        scope: finding.scope,
        action: finding.action,
        used: quantity(finding.used),
        cap: quantity(finding.cap),
        percent: finding.percent,
        layer: finding.layer,
        told: entry.told.iter().map(|(to, text)| Told { to: *to, text }).collect(),
    }
}

fn summary(sums: &Sums) -> Summary {
    let spent = sums.spent();
    Summary {
        began_at: sums.period_ms.map(|(first, _)| Timestamp(first)),
        ended_at: sums.period_ms.map(|(_, last)| Timestamp(last)),
        trips: sums.trips,
        sessions: sums.sessions,
        sessions_stopped: sums.sessions_stopped,
        runs: sums.runs,
        runs_stopped: sums.runs_stopped,
        runs_never_started: sums.never_started,
        warnings: sums.warnings,
        questions: sums.questions,
        recorded: Figures {
            turns: sums.calls,
            refused: Some(sums.refused),
            answered_no: Some(sums.answered_no),
            requests: spent.requests,
            cost_usd: Usd(spent.cost),
        },
        client_cost_usd: sums.client_cost.map(Usd),
        cost_where_client_knows_usd: Usd(sums.spent_where_known),
        saved: Figures {
            turns: sums.calls_saved,
            refused: None,
            answered_no: None,
            requests: sums.requests_saved,
            cost_usd: Usd(sums.cost_saved),
        },
        remarks: sums.remarks.clone(),
    }
}
