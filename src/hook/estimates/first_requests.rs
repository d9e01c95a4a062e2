//! Estimates the first request of an agent by what first requests of its type have cost on this machine.

use serde::{Deserialize, Serialize};

use crate::domain::ingested::Ingested;
use crate::domain::session::Run;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::domain::stored::metadata;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::pricing::price;
use crate::pricing::table::{Table, canonical};
use crate::pricing::usage::TokenUsage;
use crate::store::Store;
use crate::transcript::stand_in::main_model;

/// What is known of first requests: how many there were, what they have spent together, and their completion tokens.
#[derive(Default, Serialize, Deserialize)]
struct Known(u64, Spend, #[serde(default)] u64);

/// Estimates a first request of an agent type: the mean of those to the next request's model, else the mean of all at that model's
/// price. `None` where none is known.
pub fn estimate<'t>(
    store: &Store,
    state: &SessionState,
    agent_type: &str,
    at_ms: i64,
    table: &dyn Fn() -> &'t Table,
) -> Result<Option<Spend>> {
    let model = state.facts.next_model.as_ref().map(|next| next.name.as_str());
    let of_model = model.map(|model| known(store, &fact_of_model(agent_type, model))).transpose()?.flatten();
    if let Some(Known(_, sum, _)) = of_model {
        return Ok(Some(sum.mean()));
    }
    let Some(Known(_, sum, output)) = known(store, &fact_name(agent_type))? else { return Ok(None) };
    let mean = sum.mean();
    let Some(model) = model else { return Ok(Some(mean)) };
    let output = output / sum.requests.max(1);
    let new = mean.tokens.saturating_sub(output);
    let usage = TokenUsage { output, write_5m: new, cache_read: mean.cache_reads, ..TokenUsage::default() };
    let main = main_model(state, table(), at_ms);
    let cost: Amount = price::price(table(), model, at_ms, &usage, Some(&main)).cost;
    Ok(Some(Spend { cost, ..mean }))
}

/// Adds the first requests of subagents to what is known of their type, and of their type with their model.
pub fn learn(store: &Store, state: &SessionState, ingested: &Ingested) -> Result<()> {
    for (id, new) in &ingested.charges {
        let is_first = |run: &&Run| !run.is_main() && run.counters.responses() == 1 && new.adds.requests == 1;
        let Some(run) = state.run(id).filter(is_first) else { continue };
        for name in [fact_name(&run.agent_type), fact_of_model(&run.agent_type, &new.charge.model)] {
            let Known(count, sum, output) = known(store, &name)?.unwrap_or_default();
            let more = Known(count + 1, sum + new.charge.spend, output.saturating_add(new.charge.output));
            store.set_metadata(&name, &serde_json::json!(more).to_string())?;
        }
    }
    Ok(())
}

/// Loads what is known of first requests. Each counts as one request, however many its spend says.
fn known(store: &Store, name: &str) -> Result<Option<Known>> {
    let fact: Option<Known> = store.json_metadata(name)?;
    Ok(fact.map(|Known(count, sum, output)| Known(count, Spend { requests: count, ..sum }, output)))
}

fn fact_name(agent_type: &str) -> String {
    metadata::FIRST_REQUEST.of(agent_type)
}

fn fact_of_model(agent_type: &str, model: &str) -> String {
    format!("first-request:{agent_type} {}", canonical(model))
}
