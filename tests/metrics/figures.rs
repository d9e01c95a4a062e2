//! Each figure is the one of the report.

use std::collections::BTreeMap;

use crate::states::{HOUR_MS, OVER_MS, State, two_weeks};

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
