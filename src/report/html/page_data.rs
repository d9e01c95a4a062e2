//! What the page knows: the rows of `fusebox report --json` as columns, and the sums that its charts draw.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::calendar::Zone;
use crate::domain::billing::Billing;
use crate::domain::run::kind_of;
use crate::domain::run_figure::{self, RunFigure};
use crate::domain::spend::charge::DaySum;
use crate::domain::stable_sort::sort_by_key;
use crate::report::group::{self, Group, GroupBy, Part};
use crate::report::html::distribution::{Distribution, Measure};
use crate::report::html::session_columns::{RunColumns, SessionColumns, sessions};
use crate::report::html::trip_columns::{
    DialogColumns, HourColumns, TripColumns, TripSums, dialogs, hours, trip_sums, trips,
};
use crate::report::html::words::{Pico, Words};
use crate::report::model::{Report, SessionReport};
use crate::report::reading::{Budget, LimitReading};
use crate::report::rows::SessionRows;
use crate::report::run_report::RunReport;
use crate::ui::formats::{Quantity, Timestamp};
use crate::ui::terminal::plain;

/// What a page is made of.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// The sessions, as the store has them.
    pub rows: &'a [SessionRows],
    /// The sums of days whose detail is pruned.
    pub pruned: &'a [DaySum],
    /// The report of the same rows.
    pub report: &'a Report,
    /// From when on, in milliseconds since 1970.
    pub since_ms: i64,
    /// Until before when.
    pub until_ms: i64,
    /// Where days begin.
    pub zone: &'a Zone,
    /// How the person pays.
    pub billing: Billing,
    /// When the page is made.
    pub now_ms: i64,
}

/// All but the runs.
#[derive(Debug, Serialize)]
pub struct PageData {
    period: String,
    made: String,
    notes: Vec<String>,
    cost_head: &'static str,
    /// Whether a plan pays: then tokens come first.
    plan: bool,
    meaning: &'static str,
    totals: Totals,
    groups: BTreeMap<&'static str, GroupColumns>,
    types: Vec<AgentType>,
    hours: HourColumns,
    trip_sums: TripSums,
    trips: TripColumns,
    dialogs: DialogColumns,
    budgets: Vec<BudgetRow>,
    sessions: SessionColumns,
    words: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    cost: Pico,
    requests: u64,
    tokens: u64,
    sessions: usize,
    runs: usize,
    turns: u64,
    trips: usize,
}

#[derive(Debug, Default, Serialize)]
struct GroupColumns {
    name: Vec<String>,
    cost: Vec<Pico>,
    requests: Vec<u64>,
    tokens: Vec<u64>,
    sessions: Vec<u64>,
    total: GroupTotal,
}

#[derive(Debug, Default, Serialize)]
struct GroupTotal {
    cost: Pico,
    requests: u64,
    tokens: u64,
    sessions: u64,
}

#[derive(Debug, Serialize)]
struct AgentType {
    kind: String,
    runs: usize,
    tripped: usize,
    turns: Distribution,
    duration_ms: Distribution,
    cost: Distribution,
    tokens: Distribution,
}

#[derive(Debug, Serialize)]
struct BudgetRow {
    scope: &'static str,
    id: String,
    limit: String,
    figures: String,
    used: Quantity,
    cap: Quantity,
    resets: Option<String>,
}

/// The groupings of the page.
const GROUPINGS: [GroupBy; 4] = [GroupBy::Day, GroupBy::Agent, GroupBy::Model, GroupBy::Project];

/// Makes the data of a page: what is drawn at once, and the runs, which are read when somebody asks for them.
pub fn page_data(source: &PageSource) -> (PageData, RunColumns) {
    let mut words = Words::default();
    let (sessions, runs) = sessions(source.report, source.zone, &mut words);
    let groups: BTreeMap<_, _> = GROUPINGS.into_iter().map(|by| (by.one(), grouped(source, by))).collect();
    let all = || source.report.sessions.iter().flat_map(|session| &session.runs);
    let spent = groups.get("day").map(|days| &days.total);
    let totals = Totals {
        cost: spent.map_or(Pico(0), |total| total.cost),
        requests: spent.map_or(0, |total| total.requests),
        tokens: spent.map_or(0, |total| total.tokens),
        sessions: source.report.sessions.len(),
        runs: source.report.sessions.iter().map(SessionReport::runs_begun).sum(),
        turns: source.report.sessions.iter().map(|session| session.turns).sum(),
        trips: all().map(|run| run.trips.len()).sum(),
    };
    let data = PageData {
        period: period(source),
        made: format!("Made by fusebox {} on {}.", env!("CARGO_PKG_VERSION"), source.zone.minute(source.now_ms)),
        notes: notes(source),
        cost_head: if source.billing == Billing::Plan { "List price, USD" } else { "Cost, USD" },
        plan: source.billing == Billing::Plan,
        meaning: run_figure::MEANING,
        totals,
        groups,
        types: types(source.report),
        hours: hours(source.report, source.zone),
        trip_sums: trip_sums(source.report, &mut words),
        trips: trips(source.report, source.zone, &mut words),
        dialogs: dialogs(source.report, source.zone, &mut words),
        budgets: budgets(source),
        sessions,
        words: words.into_texts(),
    };
    (data, runs)
}

fn period(source: &PageSource) -> String {
    let first = source.report.sessions.iter().map(|session| session.started_at.0).min();
    let from = match source.since_ms {
        i64::MIN => first.map(|first| source.zone.minute(first)),
        since_ms => Some(source.zone.minute(since_ms)),
    };
    let until = source.zone.minute(source.until_ms.min(source.now_ms));
    from.map_or_else(|| format!("until {until}"), |from| format!("{from} to {until}"))
}

fn notes(source: &PageSource) -> Vec<String> {
    let counts = "Cost, requests and tokens of the period, each response once. Sessions are shown whole; NEW is without what was copied.";
    let pruned = source.report.pruned_before.map(|Timestamp(at_ms)| {
        format!("Before {} some sessions are pruned: of those the sums are left.", source.zone.minute(at_ms))
    });
    std::iter::once(counts.to_owned()).chain(pruned).collect()
}

fn grouped(source: &PageSource, by: GroupBy) -> GroupColumns {
    let part = Part { by, since_ms: source.since_ms, until_ms: source.until_ms, zone: source.zone };
    let grouped = group::group(source.rows, source.pruned, &part);
    let Group { cost_usd, requests, tokens, sessions, .. } = grouped.total;
    let total = GroupTotal { cost: cost_usd.0.into(), requests, tokens, sessions };
    let mut columns = GroupColumns { total, ..GroupColumns::default() };
    for group in &grouped.groups {
        let name = if by == GroupBy::Agent { kind_of(&group.name) } else { &group.name };
        columns.name.push(plain(name));
        columns.cost.push(group.cost_usd.0.into());
        columns.requests.push(group.requests);
        columns.tokens.push(group.tokens);
        columns.sessions.push(group.sessions);
    }
    columns
}

/// Sums up runs by their agents' types, those with the most runs first.
fn types(report: &Report) -> Vec<AgentType> {
    let mut by_kind: BTreeMap<&str, Vec<&RunReport>> = BTreeMap::new();
    for run in report.sessions.iter().flat_map(|session| &session.runs).filter(|run| !run.is_blocked_prompt()) {
        by_kind.entry(run.kind()).or_default().push(run);
    }
    let mut types: Vec<AgentType> = by_kind.into_iter().map(|(kind, runs)| agent_type(kind, &runs)).collect();
    sort_by_key(&mut types, |it| std::cmp::Reverse(it.runs));
    types
}

fn agent_type(kind: &str, runs: &[&RunReport]) -> AgentType {
    let told = |figure, measure, value: fn(&RunReport) -> u64| {
        let draws = |it: &&LimitReading| it.cap.limit.run_figure == Some(figure) && it.limit == it.cap.limit.key;
        let caps = runs.iter().filter_map(|run| Some(run.limits.iter().find(draws)?.cap.value));
        Distribution::of(runs.iter().map(|run| value(run)).collect(), caps, measure)
    };
    AgentType {
        kind: plain(kind),
        runs: runs.len(),
        tripped: runs.iter().filter(|run| !run.trips.is_empty()).count(),
        turns: told(RunFigure::ToolCalls, Measure::Number, |run| run.turns),
        duration_ms: told(RunFigure::Duration, Measure::Time, |run| run.duration_ms),
        cost: told(RunFigure::Cost, Measure::Number, |run| run.cost_usd.0.0),
        tokens: told(RunFigure::Tokens, Measure::Number, |run| run.tokens),
    }
}

fn budgets(source: &PageSource) -> Vec<BudgetRow> {
    let row = |budget: &Budget| BudgetRow {
        scope: budget.scope.as_str(),
        id: budget.whose(),
        limit: plain(&budget.reading.limit),
        figures: budget.reading.figures(),
        used: budget.reading.used,
        cap: budget.reading.cap,
        // Of a team's cap it is said by the store.
        resets: budget
            .resets
            .map(|Timestamp(at_ms)| source.zone.minute(at_ms))
            .or_else(|| (!budget.anew.is_empty()).then(|| plain(&format!("{}, {}", budget.anew, budget.asks)))),
    };
    source.report.budgets.iter().map(row).collect()
}
