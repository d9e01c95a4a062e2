//! What first requests of an agent type have cost on this machine: the next one's estimate.

use crate::domain::amount::Amount;
use crate::domain::fact;
use crate::domain::ingested::Ingested;
use crate::domain::meters::Spend;
use crate::domain::session::Run;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::store::Store;

/// Returns what first requests of an agent type have cost on this machine, on average.
pub fn mean(store: &Store, agent_type: &str) -> Result<Option<Spend>> {
    let Some(fact) = store.metadata(&fact_name(agent_type))? else { return Ok(None) };
    let Ok((count, sum)) = serde_json::from_str::<(u64, Spend)>(&fact) else { return Ok(None) };
    let count = count.max(1);
    Ok(Some(Spend {
        requests: 1,
        tokens: sum.tokens / count,
        cache_reads: sum.cache_reads / count,
        cost: Amount(sum.cost.0 / count),
    }))
}

/// Learns from first requests of subagents what the next one of their type may cost.
pub fn learn(store: &Store, state: &SessionState, ingested: &Ingested) -> Result<()> {
    for (id, new) in &ingested.charges {
        let is_first = |run: &&Run| !run.is_main() && run.counters.responses() == 1 && new.adds.requests == 1;
        let Some(run) = state.run(id).filter(is_first) else { continue };
        let name = fact_name(&run.agent_type);
        let known = store.metadata(&name)?.and_then(|fact| serde_json::from_str::<(u64, Spend)>(&fact).ok());
        let (count, mut sum) = known.unwrap_or_default();
        sum += new.charge.spend;
        store.set_metadata(&name, &serde_json::json!((count + 1, sum)).to_string())?;
    }
    Ok(())
}

fn fact_name(agent_type: &str) -> String {
    fact::FIRST_REQUEST.of(agent_type)
}
