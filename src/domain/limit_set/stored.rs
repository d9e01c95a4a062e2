//! Reads rules and rates back from JSON. Those of a limit that only a newer version knows are left out.

use serde::{Deserialize, Deserializer};

use crate::domain::limit_set::{LimitRule, Models, Rate};
use crate::domain::policy::{Action, Layer};
use crate::limits;

/// A rule as it is stored: its limit by name.
#[derive(Deserialize)]
struct StoredRule {
    limit: String,
    cap: u64,
    action: Action,
    layer: Layer,
    increase: u64,
    #[serde(default)]
    models: Option<Models>,
    #[serde(default)]
    locked: bool,
}

/// A rate as it is stored: its limit by name.
#[derive(Deserialize)]
struct StoredRate {
    limit: String,
    tool: String,
    max: u64,
    per_ms: u64,
    layer: Layer,
    action: Action,
}

/// Reads rules.
pub fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LimitRule>, D::Error> {
    let stored = Vec::<StoredRule>::deserialize(deserializer)?;
    let known = stored.into_iter().filter_map(|rule| {
        let StoredRule { limit, cap, action, layer, increase, models, locked } = rule;
        Some(LimitRule { limit: limits::find(&limit)?, cap, action, layer, increase, of: models, locked })
    });
    Ok(known.collect())
}

/// Reads rates.
pub fn rates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rate>, D::Error> {
    let stored = Vec::<StoredRate>::deserialize(deserializer)?;
    let known = stored.into_iter().filter_map(|rate| {
        let StoredRate { limit, tool, max, per_ms, layer, action } = rate;
        Some(Rate { limit: limits::find(&limit)?, tool, max, per_ms, layer, action })
    });
    Ok(known.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limit::Role;
    use crate::domain::limit_set::LimitSet;

    fn all() -> LimitSet {
        let rule = |limit| LimitRule {
            limit,
            cap: u64::MAX,
            action: Action::Terminate,
            layer: Layer::User,
            increase: 7,
            of: None,
            locked: false,
        };
        let role = |role, planning| Some(Models::Role(role, planning));
        let mut rules: Vec<LimitRule> = limits::REGISTRY.iter().copied().map(rule).collect();
        rules[0].of = Some(Models::Like("*opus*".to_owned()));
        rules[1].of = role(Role::Planning, None);
        rules[2].of = role(Role::Execution, Some(vec!["*opus*".to_owned()]));
        rules[3].locked = true;
        let rate = Rate {
            limit: limits::REGISTRY[0],
            tool: "Web*".to_owned(),
            max: 2,
            per_ms: 1000,
            layer: Layer::Managed,
            action: Action::Warn,
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
        let key = limits::REGISTRY[0].key;
        let newer = text.replace(&format!(r#""limit":"{key}""#), r#""limit":"of_a_newer_version""#);
        let read: LimitSet = serde_json::from_str(&newer).unwrap();
        assert_eq!((read.limits.as_slice(), read.rates.len()), (&all().limits[1..], 0));
        for (from, to) in [("terminate", "end"), ("18446744073709551615", "-1"), ("\"cap\"", "\"top\"")] {
            assert!(serde_json::from_str::<LimitSet>(&text.replace(from, to)).is_err(), "{from}");
        }
    }
}
