//! Reads rules and rates back from JSON. Those of a limit that only a newer version knows are left out.

use serde::{Deserialize, Deserializer};

use crate::domain::action::{Action, OnLimit};
use crate::domain::billing::Billing;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::limit_set::{LimitRule, Models, Rate};

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
    #[serde(default)]
    billing: Billing,
    #[serde(default)]
    responses_alone: bool,
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
    #[serde(default)]
    on_limit: OnLimit,
}

/// Reads rules.
pub fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LimitRule>, D::Error> {
    let stored = Vec::<StoredRule>::deserialize(deserializer)?;
    let known = stored.into_iter().filter_map(|rule| {
        let StoredRule { limit, cap, action, layer, increase, models, locked, billing, responses_alone } = rule;
        let limit = Limit::find(&limit)?;
        Some(LimitRule { limit, cap, action, layer, increase, models, locked, billing, responses_alone })
    });
    Ok(known.collect())
}

/// Reads rates.
pub fn rates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rate>, D::Error> {
    let stored = Vec::<StoredRate>::deserialize(deserializer)?;
    let known = stored.into_iter().filter_map(|rate| {
        let StoredRate { limit, tool, max, per_ms, layer, action, on_limit } = rate;
        Some(Rate { limit: Limit::find(&limit)?, tool, max, per_ms, layer, action, on_limit })
    });
    Ok(known.collect())
}
