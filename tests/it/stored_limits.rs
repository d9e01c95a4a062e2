//! What is stored of limits by their names is read back: rules, rates, and what a finding comes from.

use fusebox::domain::action::{Action, OnLimit};
use fusebox::domain::billing::Billing;
use fusebox::domain::finding_source::{FindingSource, NAMED};
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Role;
use fusebox::domain::limit_set::{LimitRule, LimitSet, Models, Rate};
use fusebox::limits::REGISTRY;

fn all() -> LimitSet {
    let rule = |limit| LimitRule {
        limit,
        cap: u64::MAX,
        action: Action::Terminate,
        layer: Layer::User,
        increase: 7,
        models: None,
        locked: false,
        billing: Billing::default(),
        responses_alone: false,
    };
    let role = |role, planning| Some(Models::Role(role, planning));
    let mut rules: Vec<LimitRule> = REGISTRY.iter().copied().map(rule).collect();
    rules[0].models = Some(Models::Like("*opus*".to_owned()));
    rules[1].models = role(Role::Planning, None);
    rules[2].models = role(Role::Execution, Some(vec!["*opus*".to_owned()]));
    rules[3].locked = true;
    let rate = Rate {
        limit: REGISTRY[0],
        tool: "Web*".to_owned(),
        max: 2,
        per_ms: 1000,
        layer: Layer::Managed,
        action: Action::Warn,
        on_limit: OnLimit::Wait,
    };
    LimitSet { limits: rules, rates: vec![rate], ..LimitSet::default() }
}

#[test]
fn what_is_stored_is_read_as_it_was() {
    let text = serde_json::to_string(&all()).unwrap();
    assert_eq!(serde_json::from_str::<LimitSet>(&text).unwrap(), all());
    assert_eq!(serde_json::from_str::<LimitSet>("{}").unwrap(), LimitSet::default());
}

#[test]
fn rules_of_a_newer_versions_limits_are_left_out_and_damaged_ones_are_an_error() {
    let text = serde_json::to_string(&all()).unwrap();
    let key = REGISTRY[0].key;
    let newer = text.replace(&format!(r#""limit":"{key}""#), r#""limit":"of_a_newer_version""#);
    let read: LimitSet = serde_json::from_str(&newer).unwrap();
    assert_eq!((read.limits.as_slice(), read.rates.len()), (&all().limits[1..], 0));
    for (from, to) in [("terminate", "end"), ("18446744073709551615", "-1"), ("\"cap\"", "\"top\"")] {
        assert!(serde_json::from_str::<LimitSet>(&text.replace(from, to)).is_err(), "{from}");
    }
}

#[test]
fn every_source_is_found_by_its_name() {
    let limits = REGISTRY.iter().map(|limit| FindingSource::Limit(limit));
    let of_models = REGISTRY.iter().map(|limit| FindingSource::LimitOfModels(limit, "*opus-4.1*".to_owned()));
    let named = NAMED.iter().map(|(source, _)| source.clone());
    let unknown = ["", "of_a_newer_version", "models.x.of_a_newer_version"].map(str::to_owned);
    for source in limits.chain(of_models).chain(named).chain(unknown.map(FindingSource::Unknown)) {
        assert_eq!(FindingSource::parse(&source.name()), source);
        let json = serde_json::to_string(&source).unwrap();
        assert_eq!(serde_json::from_str::<FindingSource>(&json).unwrap(), source, "{json}");
    }
}
