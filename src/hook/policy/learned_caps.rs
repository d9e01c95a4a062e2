//! What is learned of past runs, as a fact of the state: sessions that start take it where `adaptive` says so.

use crate::config::learned_caps::LearnedCaps;
use crate::config::policy::Policy;
use crate::domain::stored::metadata;
use crate::error::{Error, Result};
use crate::store::Store;

/// The fact that says which caps are learned, in JSON.
const LEARNED: &str = metadata::LEARNED_CAPS.stem;

/// Has a policy follow what is learned, where it says so. From then on it is learned every day.
pub fn follow(store: &Store, policy: &mut Policy) -> Result<()> {
    if !policy.adaptive() {
        return Ok(());
    }
    match known(store)? {
        Some(learned) => policy.learned = learned,
        None => keep(store, &LearnedCaps::default())?,
    }
    Ok(())
}

/// Returns what is learned; `None` where no session was ever to follow it, or another program has written it.
pub fn known(store: &Store) -> Result<Option<LearnedCaps>> {
    store.json_metadata(LEARNED)
}

/// Whether a day begins with learning.
pub fn is_learned(store: &Store) -> Result<bool> {
    Ok(cfg!(feature = "suggest") && known(store)?.is_some())
}

/// Forgets what is learned: no day begins with learning any more.
pub fn forget(store: &Store) -> Result<()> {
    match store.metadata(LEARNED)? {
        Some(_) => store.delete_metadata(LEARNED),
        None => Ok(()),
    }
}

/// Keeps what is learned.
pub fn keep(store: &Store, learned: &LearnedCaps) -> Result<()> {
    let text =
        serde_json::to_string(learned).map_err(|cause| Error::failed(format!("the caps that are learned: {cause}")))?;
    store.set_metadata(LEARNED, &text)
}
