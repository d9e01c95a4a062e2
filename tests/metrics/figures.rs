//! Each figure is the one of the report.

use std::collections::{BTreeMap, BTreeSet};

use fusebox::domain::limit::Limit;
use fusebox::domain::text::rfc3339;
use fusebox::domain::unit::Unit;
use serde_json::Value;

use crate::states::{DAY_MS, HOUR_MS, OVER_MS, State, two_weeks};

/// Returns the samples of a name: the value by the value of one label.
fn by_label(text: &str, name: &str, label: &str) -> BTreeMap<String, String> {
    let of_name = text.lines().filter_map(|line| line.strip_prefix(&format!("{name}{{")));
    let sample = |line: &str| {
        let (labels, value) = line.rsplit_once("} ")?;
        let found = labels.split("\",").find_map(|pair| pair.strip_prefix(&format!("{label}=\"")))?;
        Some((found.trim_end_matches('"').to_owned(), value.to_owned()))
    };
    of_name.filter_map(sample).collect()
}

fn reported(state: &State, at_ms: i64, by: &str, key: &str, since: &str) -> BTreeMap<String, String> {
    let text = state.run(at_ms, &["report", "--json", "--since", since, "--by", by], None);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let groups = json[format!("{by}s")].as_array().unwrap().iter();
    let shown = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    groups.map(|group| (shown(&group[by]), shown(&group[key]))).collect()
}

#[test]
fn every_sum_is_the_reports() {
    let state = two_weeks();
    let last_day = OVER_MS - 50 * HOUR_MS;
    for at_ms in [last_day, OVER_MS] {
        let text = state.run(at_ms, &["metrics"], None);
        for (name, label, key, since) in [
            ("fusebox_model_cost_usd_total", "model", "cost_usd", "all"),
            ("fusebox_model_requests_total", "model", "requests", "all"),
            ("fusebox_model_tokens_total", "model", "tokens", "all"),
            ("fusebox_project_cost_usd_total", "project", "cost_usd", "all"),
            ("fusebox_agent_day_cost_usd", "agent_type", "cost_usd", "24h"),
        ] {
            let by = label.strip_suffix("_type").unwrap_or(label);
            let expected = reported(&state, at_ms, by, key, since);
            assert_eq!(by_label(&text, name, label), expected, "{name}");
            assert!(since != "all" || !expected.is_empty(), "{name}");
        }
    }
}

/// What `retention_days` takes away is no new spending: a counter never falls.
#[test]
fn what_is_pruned_is_still_counted() {
    let state = two_weeks();
    let counters = |at_ms: i64| {
        let text = state.run(at_ms, &["metrics"], None);
        let totals = text.lines().filter(|line| !line.starts_with('#') && line.contains("_total{"));
        totals.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = counters(OVER_MS);
    assert!(before.len() > 5, "{before:?}");
    let later = OVER_MS + 60 * 24 * HOUR_MS;
    let said = state.run(later, &["prune", "--older-than", "32d"], None);
    assert_eq!(counters(later), before, "{said}");
    assert!(state.json(later, &[])["pruned_before"].is_string(), "{said}");
}

/// Returns every sample of `fusebox metrics`, by its name with its labels in the order of their names.
fn samples(text: &str) -> BTreeMap<String, String> {
    let samples = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit_once(' ').unwrap());
    samples.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Samples made of the JSON of `fusebox report` and `fusebox status`.
#[derive(Default)]
struct Made(BTreeMap<String, f64>);

impl Made {
    fn name(name: &str, labels: &[(&str, &str)]) -> String {
        let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}={value:?}")).collect();
        if labels.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", labels.join(",")) }
    }

    fn add(&mut self, name: &str, labels: &[(&str, &str)], count: f64) {
        *self.0.entry(Made::name(name, labels)).or_default() += count;
    }

    fn raise(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let known = self.0.entry(Made::name(name, labels)).or_default();
        *known = known.max(value);
    }

    /// Takes in the groups of a sum.
    fn groups(&mut self, json: &Value, by: &str, families: &[(&str, &str)]) {
        let label = if by == "agent" { "agent_type" } else { by };
        for group in json[format!("{by}s")].as_array().unwrap() {
            for (name, key) in families {
                self.add(name, &[(label, group[by].as_str().unwrap())], number(&group[key]));
            }
        }
    }

    /// Takes in a session that is open.
    fn session(&mut self, session: &Value) {
        self.add("fusebox_sessions", &[("status", session["status"].as_str().unwrap())], 1.0);
        let id = session["session_id"].as_str().unwrap();
        self.used(&session["limits"], &[("agent_type", ""), ("scope", "session"), ("session", id)]);
        let mut waits = false;
        for run in session["runs"].as_array().unwrap() {
            let (kind, status) = (run["agent_type"].as_str().unwrap(), run["status"].as_str().unwrap());
            waits |= run["dialogs"].as_array().unwrap().iter().any(|dialog| dialog["answer"] == "open");
            if status == "running" || status == "paused" {
                self.add("fusebox_runs", &[("agent_type", kind), ("status", status)], 1.0);
                self.used(&run["limits"], &[("agent_type", kind), ("scope", "run"), ("session", id)]);
            }
        }
        self.add("fusebox_waiting_sessions", &[], f64::from(u8::from(waits)));
        let running = session["silent_clients"]["running"].as_u64().unwrap_or(0);
        self.add("fusebox_silent_clients", &[], running as f64);
    }

    fn used(&mut self, limits: &Value, of: &[(&str, &str); 3]) {
        for limit in limits.as_array().unwrap() {
            self.ratio(limit, of);
        }
    }

    /// Takes in what is used of a limit; of one that is no amount, or counts refusals and has none, nothing is told.
    fn ratio(&mut self, limit: &Value, [kind, scope, session]: &[(&str, &str); 3]) {
        let (name, cap) = (limit["limit"].as_str().unwrap(), number(&limit["cap"]));
        let kind_of_limit = Limit::find(name).unwrap();
        let is_untold = !kind_of_limit.shown_at_zero && number(&limit["used"]) == 0.0;
        if kind_of_limit.unit == Unit::Switch || is_untold || cap == 0.0 {
            return;
        }
        let part = (number(&limit["used"]) * 1000.0 / cap + 1e-6).floor() / 1000.0;
        self.raise("fusebox_limit_used_ratio", &[*kind, ("limit", name), *scope, *session], part);
    }

    fn budget(&mut self, budget: &Value) {
        let [scope, id, limit] = ["scope", "id", "limit"].map(|key| budget[key].as_str().unwrap());
        self.ratio(budget, &[("agent_type", ""), ("scope", scope), ("session", id)]);
        if let Some(period) = limit.strip_prefix("max_cost_usd_per_") {
            let labels = [("period", period), ("project", id), ("scope", scope)];
            self.add("fusebox_budget_spent_usd", &labels, number(&budget["used"]));
            self.add("fusebox_budget_cap_usd", &labels, number(&budget["cap"]));
        }
    }

    /// Takes in what a run of the last day has to tell.
    fn run_of_day(&mut self, run: &Value, at_ms: i64) {
        let kind = run["agent_type"].as_str().unwrap();
        if moment(&run["started_at"]) >= at_ms - DAY_MS {
            let labels = [("agent_type", kind), ("status", run["status"].as_str().unwrap())];
            self.add("fusebox_agent_day_runs", &labels, 1.0);
        }
        for trip in run["trips"].as_array().unwrap() {
            let [action, limit, scope] = ["action", "limit", "scope"].map(|key| trip[key].as_str().unwrap());
            let observed = trip["observed"].to_string();
            let labels = [
                ("action", action),
                ("agent_type", kind),
                ("limit", limit),
                ("observed", &*observed),
                ("scope", scope),
            ];
            for (name, since_ms) in [("fusebox_day_trips", DAY_MS), ("fusebox_hour_trips", HOUR_MS)] {
                if moment(&trip["at"]) >= at_ms - since_ms {
                    self.add(name, &labels, 1.0);
                }
            }
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_str().map_or_else(|| value.as_f64().unwrap(), |text| text.parse().unwrap())
}

fn moment(value: &Value) -> i64 {
    rfc3339::parse(value.as_str().unwrap()).unwrap()
}

/// Returns every sample that there has to be, made of the JSON alone.
fn made_of_json(state: &State, at_ms: i64) -> BTreeMap<String, f64> {
    let json = |args: &[&str]| -> Value { serde_json::from_str(&state.run(at_ms, args, None)).unwrap() };
    let mut made = Made::default();
    for status in ["running", "paused"] {
        made.add("fusebox_sessions", &[("status", status)], 0.0);
    }
    for name in ["fusebox_waiting_sessions", "fusebox_silent_clients", "fusebox_day_silent_clients"] {
        made.add(name, &[], 0.0);
    }
    made.add("fusebox_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    let by = |by: &str, since: &str| json(&["report", "--json", "--since", since, "--by", by]);
    let models = [
        ("fusebox_model_cost_usd_total", "cost_usd"),
        ("fusebox_model_requests_total", "requests"),
        ("fusebox_model_tokens_total", "tokens"),
        ("fusebox_model_cache_read_tokens_total", "cache_reads"),
    ];
    made.groups(&by("model", "all"), "model", &models);
    made.groups(&by("project", "all"), "project", &[("fusebox_project_cost_usd_total", "cost_usd")]);
    made.groups(&by("agent", "24h"), "agent", &[("fusebox_agent_day_cost_usd", "cost_usd")]);
    for session in json(&["report", "--json", "--since", "24h"])["sessions"].as_array().unwrap() {
        for run in session["runs"].as_array().unwrap() {
            made.run_of_day(run, at_ms);
        }
        for client in session["silent_clients"]["clients"].as_array().into_iter().flatten() {
            let is_of_day = moment(&client["at"]) >= at_ms - DAY_MS;
            made.add("fusebox_day_silent_clients", &[], f64::from(u8::from(is_of_day)));
        }
    }
    let status = json(&["status", "--json"]);
    for session in status["sessions"].as_array().unwrap() {
        made.session(session);
    }
    for budget in status["budgets"].as_array().unwrap() {
        made.budget(budget);
    }
    made.0
}

/// On the last day of the recordings, in the days after it, and when all are old.
#[test]
fn every_sample_is_made_of_the_json() {
    let state = two_weeks();
    let mut names = BTreeSet::new();
    let last = OVER_MS - 50 * HOUR_MS;
    for at_ms in [last, last + HOUR_MS, last + 40 * HOUR_MS, OVER_MS, OVER_MS + 20 * DAY_MS] {
        let expected = made_of_json(&state, at_ms);
        let found = samples(&state.run(at_ms, &["metrics"], None));
        let missing: Vec<&String> = expected.keys().filter(|name| !found.contains_key(*name)).collect();
        let unknown: Vec<&String> = found.keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "at {at_ms}: missing {missing:#?}, unknown {unknown:#?}");
        for (name, value) in &found {
            let (value, right): (f64, f64) = (value.parse().unwrap(), expected[name]);
            assert!((value - right).abs() < 1e-9, "{name} is {value}, and {right} in JSON");
            names.insert(name.split('{').next().unwrap().to_owned());
        }
        let is_paused = found["fusebox_sessions{status=\"paused\"}"] != "0";
        assert!(is_paused || at_ms > last + 7 * DAY_MS, "no session is paused");
    }
    assert!(names.len() >= 15, "{names:?}");
}
