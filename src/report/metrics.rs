//! What `fusebox metrics` tells a monitoring system: families of samples, in the text that Prometheus reads and as OpenTelemetry's JSON.
//!
//! Names and labels are a contract: `docs/metrics.md`. Whatever counts up for ever (`…_total`) is made of what `retention_days` never
//! takes away, the sums by model and project: else a counter would fall, and Prometheus would take all that is left for new.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::calendar::Zone;
use crate::domain::limit::Span;
use crate::domain::scope::Scope;
use crate::domain::session::Status;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::DaySum;
use crate::domain::time_units::{DAY_MS, HOUR_MS};
use crate::domain::unit::Unit;
use crate::report::group::{self, Group, GroupBy, Part};
use crate::report::model::{Report, SessionReport};
use crate::report::reading::LimitReading;
use crate::report::rows::SessionRows;
use crate::report::run_report::RunReport;
use crate::report::silent_clients::{self, SilentReport};
use crate::report::status;
use crate::ui::style::plain;

/// In a millisecond.
const NANOSECONDS: i64 = 1_000_000;

/// What the figures are made of.
#[derive(Clone, Copy, Debug)]
pub struct MetricsSource<'a> {
    /// All sessions that the state has.
    pub all: &'a [SessionRows],
    /// What is left of those that it has no longer.
    pub pruned: &'a [DaySum],
    /// The sessions that are open, and those of the last day.
    pub lately: &'a Report,
    /// How many sessions wait for a person's answer.
    pub waiting: usize,
    /// The zone that days are told in.
    pub zone: &'a Zone,
    /// The moment, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Labels of one sample: names with values.
type Labels = Vec<(&'static str, String)>;

/// What is measured, as OpenTelemetry writes units: `usd`, `1` for a ratio, in braces what is counted.
type UnitCode = &'static str;

/// All samples of one name.
struct Family {
    /// The name with its dots, as OpenTelemetry has it.
    name: &'static str,
    unit: UnitCode,
    help: &'static str,
    is_counter: bool,
    samples: BTreeMap<Labels, String>,
}

impl Family {
    fn gauge(name: &'static str, unit: UnitCode, help: &'static str) -> Family {
        Family { name, unit, help, is_counter: false, samples: BTreeMap::new() }
    }

    fn counter(name: &'static str, unit: UnitCode, help: &'static str) -> Family {
        Family { is_counter: true, ..Family::gauge(name, unit, help) }
    }

    /// Returns the name that Prometheus gives it, by OpenTelemetry's rules: with the unit, and `total` behind what counts up.
    fn prometheus_name(&self) -> String {
        let unit = match self.unit {
            "1" => "_ratio",
            "usd" => "_usd",
            _ => "",
        };
        format!("{}{unit}{}", self.name.replace('.', "_"), if self.is_counter { "_total" } else { "" })
    }

    fn with(mut self, samples: impl IntoIterator<Item = (Labels, String)>) -> Family {
        self.samples.extend(samples);
        self
    }

    /// Counts things by their labels.
    fn counting(self, things: impl IntoIterator<Item = Labels>) -> Family {
        let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
        for labels in things {
            *counts.entry(labels).or_default() += 1;
        }
        self.with(counts.into_iter().map(|(labels, count)| (labels, count.to_string())))
    }

    fn text(&self) -> String {
        let kind = if self.is_counter { "counter" } else { "gauge" };
        let name = self.prometheus_name();
        let mut text = format!("# HELP {name} {}\n# TYPE {name} {kind}\n", self.help);
        for (labels, value) in &self.samples {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            text.push_str(&format!("{name}{labels} {value}\n"));
        }
        text
    }

    /// Writes it as a metric of OpenTelemetry's protocol.
    fn otlp(&self, now_ms: i64) -> Value {
        let at = now_ms.saturating_mul(NANOSECONDS).to_string();
        let point = |(labels, value): (&Labels, &String)| {
            let attributes: Vec<Value> = labels.iter().map(|(name, value)| attribute(name, &plain(value))).collect();
            let mut point = json!({ "attributes": attributes, "timeUnixNano": at });
            match self.unit {
                "usd" | "1" => point["asDouble"] = json!(value.parse::<f64>().unwrap_or_default()),
                // Whole numbers of 64 bits are text in JSON.
                _ => point["asInt"] = json!(value),
            }
            point
        };
        let points: Vec<Value> = self.samples.iter().map(point).collect();
        let mut metric = json!({ "name": self.name, "description": self.help, "unit": self.unit });
        match self.is_counter {
            true => {
                let cumulative = "AGGREGATION_TEMPORALITY_CUMULATIVE";
                metric["sum"] =
                    json!({ "aggregationTemporality": cumulative, "isMonotonic": true, "dataPoints": points });
            }
            false => metric["gauge"] = json!({ "dataPoints": points }),
        }
        metric
    }
}

fn attribute(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

/// Writes a label's value: an agent may have chosen it.
fn escaped(value: &str) -> String {
    plain(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Writes all figures as Prometheus reads them (text format 0.0.4).
pub fn text(source: &MetricsSource) -> String {
    families(source).map(|family| family.text()).collect()
}

/// Writes all figures as a request of OpenTelemetry's protocol (OTLP 1, metrics in JSON).
pub fn otlp(source: &MetricsSource) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let metrics: Vec<Value> = families(source).map(|family| family.otlp(source.now_ms)).collect();
    let resource =
        json!({ "attributes": [attribute("service.name", "fusebox"), attribute("service.version", version)] });
    let scope = json!({ "name": "fusebox", "version": version });
    json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": [{ "scope": scope, "metrics": metrics }] }] })
        .to_string()
}

fn families(source: &MetricsSource) -> impl Iterator<Item = Family> {
    let families = totals(source).into_iter().chain(last_day(source)).chain(at_present(source));
    families.filter(|family| !family.samples.is_empty())
}

fn usd(amount: Amount) -> String {
    amount.exact()
}

/// What was spent since the state began.
fn totals(source: &MetricsSource) -> Vec<Family> {
    let grouped = |by| {
        let part = Part { by, since_ms: i64::MIN, until_ms: i64::MAX, zone: source.zone };
        group::group(source.all, source.pruned, &part).groups
    };
    let (models, projects) = (grouped(GroupBy::Model), grouped(GroupBy::Project));
    let samples = |groups: &[Group], label: &'static str, value: fn(&Group) -> String| {
        let of_groups = groups.iter().map(|group| (vec![(label, group.name.clone())], value(group)));
        of_groups.collect::<Vec<_>>()
    };
    vec![
        Family::gauge("fusebox.build_info", "{build}", "The version of the program.")
            .with([(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], "1".to_owned())]),
        Family::counter("fusebox.model.cost", "usd", "Spent at list prices, by model.").with(samples(
            &models,
            "model",
            |group| usd(group.cost_usd.0),
        )),
        Family::counter("fusebox.model.requests", "{request}", "Responses of models.").with(samples(
            &models,
            "model",
            |group| group.requests.to_string(),
        )),
        Family::counter("fusebox.model.tokens", "{token}", "Input, cache-write and output tokens, by model.")
            .with(samples(&models, "model", |group| group.tokens.to_string())),
        Family::counter("fusebox.model.cache_read_tokens", "{token}", "Prompt tokens read from the cache, by model.")
            .with(samples(&models, "model", |group| group.cache_reads.to_string())),
        Family::counter("fusebox.project.cost", "usd", "Spent at list prices, by project.").with(samples(
            &projects,
            "project",
            |group| usd(group.cost_usd.0),
        )),
    ]
}

/// What the last day and the last hour were like.
fn last_day(source: &MetricsSource) -> Vec<Family> {
    let day_ms = source.now_ms.saturating_sub(DAY_MS);
    let part = Part { by: GroupBy::Agent, since_ms: day_ms, until_ms: i64::MAX, zone: source.zone };
    let agents = group::group(source.all, &[], &part).groups;
    let runs = || source.lately.sessions.iter().flat_map(|session| &session.runs);
    let trips = |since_ms: i64| {
        let trips = runs().flat_map(|run| run.trips.iter().map(move |trip| (run, trip)));
        trips.filter(move |(_, trip)| trip.at.0 >= since_ms).map(|(run, trip)| {
            vec![
                ("action", trip.action.clone()),
                ("agent_type", run.agent_type.clone()),
                ("limit", trip.limit.clone()),
                ("observed", trip.observed.to_string()),
                ("scope", trip.scope.clone()),
            ]
        })
    };
    let is_begun = |run: &&RunReport| run.started_at.0 >= day_ms && !run.is_blocked_prompt();
    let started = runs().filter(is_begun).map(of_run);
    vec![
        Family::gauge("fusebox.agent.day_cost", "usd", "Spent in the last 24 hours at list prices, by agent type.")
            .with(agents.into_iter().map(|group| (vec![("agent_type", group.name)], usd(group.cost_usd.0)))),
        Family::gauge("fusebox.agent.day_runs", "{run}", "Runs begun in the last 24 hours, by agent type and status.")
            .counting(started),
        Family::gauge("fusebox.day_trips", "{trip}", "Limits that tripped in the last 24 hours.")
            .counting(trips(day_ms)),
        Family::gauge("fusebox.hour_trips", "{trip}", "Limits that tripped in the last hour.")
            .counting(trips(source.now_ms.saturating_sub(HOUR_MS))),
        Family::gauge("fusebox.day_silent_clients", "{client}", "Clients that ask no hook, seen in the last 24 hours.")
            .with([(Vec::new(), silent_clients::count(silent(source), |client| client.at.0 >= day_ms))]),
    ]
}

fn silent<'a>(source: &MetricsSource<'a>) -> impl Iterator<Item = &'a SilentReport> {
    source.lately.sessions.iter().filter_map(|session| session.silent_clients.as_ref())
}

fn of_run(run: &RunReport) -> Labels {
    vec![("agent_type", run.agent_type.clone()), ("status", run.status.as_str().to_owned())]
}

/// How things stand.
fn at_present(source: &MetricsSource) -> Vec<Family> {
    let open = || source.lately.sessions.iter().filter(|session| status::is_open(session));
    let labels = |status: Status| vec![("status", status.as_str().to_owned())];
    let at_work = |run: &&RunReport| matches!(run.status, Status::Running | Status::Paused);
    let budgets = || {
        let of_money = source.lately.budgets.iter().filter(|budget| budget.reading.cap.limit.unit == Unit::Usd);
        of_money.filter_map(|budget| Some((budget, period(budget.reading.cap.limit.period?))))
    };
    let budget = |value: fn(&LimitReading) -> u64| {
        budgets().map(move |(budget, period)| {
            let (scope, project) = (budget.scope.as_str().to_owned(), budget.id.clone());
            let labels = vec![("period", period.to_owned()), ("project", project), ("scope", scope)];
            (labels, usd(Amount(value(&budget.reading))))
        })
    };
    vec![
        Family::gauge("fusebox.sessions", "{session}", "Sessions that are open, by status.")
            .with([Status::Running, Status::Paused].map(|status| (labels(status), "0".to_owned())))
            .counting(open().map(|session| labels(session.stands))),
        Family::gauge("fusebox.waiting_sessions", "{session}", "Sessions that wait for a person's answer.")
            .with([(Vec::new(), source.waiting.to_string())]),
        Family::gauge(
            "fusebox.silent_clients",
            "{client}",
            "Clients at work that agents started and that ask no hook.",
        )
        .with([(Vec::new(), silent_clients::count(silent(source), |client| client.running))]),
        Family::gauge("fusebox.runs", "{run}", "Runs that are open in open sessions, by agent type and status.")
            .counting(open().flat_map(|session| session.runs.iter().filter(at_work)).map(of_run)),
        Family::gauge("fusebox.limit.used", "1", "Used of a limit, where 1 is its cap: of what is open, and shared.")
            .with(ratios(source, open(), at_work)),
        Family::gauge("fusebox.budget.spent", "usd", "Spent of a budget of the user or of a project.")
            .with(budget(|reading| reading.used.value)),
        Family::gauge("fusebox.budget.cap", "usd", "The cap of that budget.").with(budget(|reading| reading.cap.value)),
    ]
}

fn period(span: Span) -> &'static str {
    match span {
        Span::Day => "day",
        Span::Week => "week",
        Span::Month => "month",
    }
}

/// Returns the used part of every limit of open sessions, of their open runs and of what sessions share; where labels are the same,
/// the greatest.
fn ratios<'a>(
    source: &'a MetricsSource,
    open: impl Iterator<Item = &'a SessionReport>,
    at_work: impl Fn(&&'a RunReport) -> bool + Copy,
) -> Vec<(Labels, String)> {
    let mut used: BTreeMap<Labels, u64> = BTreeMap::new();
    let mut take = |scope: Scope, agent_type: &str, session: &str, reading: &LimitReading| {
        if !reading.tells() || reading.cap.value == 0 {
            return;
        }
        let thousandths = u128::from(reading.used.value) * 1000 / u128::from(reading.cap.value);
        let labels = vec![
            ("agent_type", agent_type.to_owned()),
            ("limit", reading.limit.clone()),
            ("scope", scope.as_str().to_owned()),
            ("session", session.to_owned()),
        ];
        let known = used.entry(labels).or_default();
        *known = (*known).max(u64::try_from(thousandths).unwrap_or(u64::MAX));
    };
    for session in open {
        for reading in &session.limits {
            take(Scope::Session, "", &session.session_id, reading);
        }
        for run in session.runs.iter().filter(at_work) {
            for reading in &run.limits {
                take(Scope::Run, &run.agent_type, &session.session_id, reading);
            }
        }
    }
    for budget in &source.lately.budgets {
        // A project's folder stands where a session's id stands.
        take(budget.scope, "", &budget.id, &budget.reading);
    }
    used.into_iter().map(|(labels, used)| (labels, format!("{}.{:03}", used / 1000, used % 1000))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_an_agent_chose_ends_no_line_and_no_label() {
        let hostile = "a\"} 1\nfusebox_build_info{version=\"9\\".to_owned();
        let text = Family::gauge("fusebox.runs", "{run}", "Runs.").counting([vec![("agent_type", hostile)]]).text();
        assert_eq!(text.lines().count(), 3, "{text}");
        let sample = text.lines().next_back().unwrap();
        assert!(sample.starts_with("fusebox_runs{agent_type=\"a\\\"} 1") && sample.ends_with("\\\\\"} 1"), "{sample}");
    }
}
