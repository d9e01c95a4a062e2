//! What the responses of each model spent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::gather::gather;
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::ui::formats::Usd;

/// What one model's responses spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ModelReport {
    /// Responses.
    pub requests: u64,
    /// Input, cache-write and output tokens.
    pub tokens: u64,
    /// Cache-read tokens.
    pub cache_reads: u64,
    /// List price.
    pub cost_usd: Usd,
}

/// Sums what the responses of each model spent.
pub fn models<'a>(charges: impl Iterator<Item = &'a Charge>) -> BTreeMap<String, ModelReport> {
    let mut models: BTreeMap<String, Spend> = BTreeMap::new();
    for charge in charges {
        *models.entry(charge.model.clone()).or_default() += charge.spend;
    }
    let report = |spent: Spend| ModelReport {
        requests: spent.requests,
        tokens: spent.tokens,
        cache_reads: spent.cache_reads,
        cost_usd: Usd(spent.cost),
    };
    gather(models.into_iter().map(|(model, spent)| (model, report(spent))))
}
