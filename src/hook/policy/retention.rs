//! How long detail is kept, and what is noted of prunings: facts of the state.

use crate::config::resolved::RETENTION_DAYS;
use crate::domain::stored::metadata;
use crate::error::Result;
use crate::store::Store;

/// The fact that says for how many days detail is kept, in JSON.
const RETENTION: &str = metadata::RETENTION.stem;
/// The fact that says when a pruning was begun, and as of when, in JSON.
pub const BEGUN: &str = metadata::PRUNING.stem;
/// The fact that says when the last pruning was done.
pub const DONE: &str = metadata::PRUNED.stem;
/// The fact that says up to which moment detail was pruned.
pub const CLOSED: &str = metadata::CLOSED.stem;

/// Notes for how many days detail is kept. Pruning goes by what was pinned, not by files that an agent may show it.
pub fn keep_for(store: &Store, days: Option<u64>) -> Result<()> {
    match retention(store)? == days {
        true => Ok(()),
        false => store.set_metadata(RETENTION, &serde_json::json!(days).to_string()),
    }
}

/// Returns for how many days detail is kept; nothing for ever.
pub fn retention(store: &Store) -> Result<Option<u64>> {
    Ok(store.json_metadata(RETENTION)?.unwrap_or(Some(RETENTION_DAYS)))
}

/// Returns the moment before which detail was pruned.
pub fn closed_ms(store: &Store) -> Result<i64> {
    Ok(number(store, CLOSED)?.unwrap_or(i64::MIN))
}

/// When the state was last pruned, in milliseconds since 1970.
pub struct LastPruning {
    /// When one was begun.
    pub begun_ms: Option<i64>,
    /// When one was done.
    pub done_ms: Option<i64>,
}

/// Returns when the state was last pruned.
pub fn last(store: &Store) -> Result<LastPruning> {
    Ok(LastPruning { begun_ms: begun(store)?.map(|(at_ms, _)| at_ms), done_ms: number(store, DONE)? })
}

/// Returns when the last pruning was begun, and as of when.
pub fn begun(store: &Store) -> Result<Option<(i64, i64)>> {
    store.json_metadata(BEGUN)
}

fn number(store: &Store, fact: &str) -> Result<Option<i64>> {
    Ok(store.metadata(fact)?.and_then(|text| text.parse().ok()))
}
