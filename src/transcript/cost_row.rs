//! The client's own total, which it writes behind what it has asked, when it ends.

use std::collections::BTreeMap;

use crate::domain::gather::gather;
use crate::domain::spend::amount::Amount;
use crate::transcript::field::Object;
use crate::transcript::row::{self, ModelTotal, Row};

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
    let mut replaced = Vec::new();
    let row: Row = row::parse(line, &mut replaced).ok().filter(|row: &Row| row.kind.0 == "cost-state")?;
    let models = row.model_usage.known().unwrap_or_default().into_iter();
    let cost = |model: Object<ModelTotal>| model.known()?.cost.0.map(Amount::from_usd);
    let by_model = gather(models.filter_map(|(name, model)| Some((name, cost(model)?))));
    Some(CostRow { total: Amount::from_usd(row.total_cost.0?), by_model })
}

impl CostRow {
    /// Returns the model whose cost has grown the most since an earlier row.
    pub fn grown_since(&self, before: &CostRow) -> Option<&str> {
        let grown = |name: &str, cost: Amount| cost.minus(before.by_model.get(name).copied().unwrap_or_default());
        let models = self.by_model.iter().map(|(name, cost)| (grown(name, *cost), name.as_str()));
        models.max().filter(|(grown, _)| *grown > Amount::ZERO).map(|(_, name)| name)
    }
}
