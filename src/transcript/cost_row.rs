//! The client's own total, which it writes behind what it has asked, when it ends.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::amount::Amount;
use crate::transcript::field::Text;

/// The client's own total.
#[derive(Debug, Default, PartialEq)]
pub struct CostRow {
    /// What all models cost.
    pub total: Amount,
    /// What each model cost.
    pub by_model: BTreeMap<String, Amount>,
}

/// Parses a line that may be a `cost-state` row.
pub fn parse(line: &[u8]) -> Option<CostRow> {
    let row: Row = serde_json::from_slice(line).ok()?;
    let models = row.models.and_then(|models| serde_json::from_str::<BTreeMap<String, Model>>(models.get()).ok());
    let by_model = models.into_iter().flatten().map(|(name, model)| (name, Amount::from_usd(model.cost))).collect();
    (row.kind.0 == "cost-state").then(|| CostRow { total: Amount::from_usd(row.total), by_model })
}

impl CostRow {
    /// Returns the model whose cost has grown the most since an earlier row.
    pub fn grown_since(&self, before: &CostRow) -> Option<&str> {
        let grown = |name: &str, cost: Amount| cost.minus(before.by_model.get(name).copied().unwrap_or_default());
        let models = self.by_model.iter().map(|(name, cost)| (grown(name, *cost), name.as_str()));
        models.max().filter(|(grown, _)| *grown > Amount::ZERO).map(|(_, name)| name)
    }
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(rename = "totalCostUSD")]
    total: f64,
    #[serde(rename = "modelUsage", borrow)]
    models: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "costUSD")]
    cost: f64,
}
