//! The policies that clients are pinned to, as they lie in the state.

use crate::config::policy::Policy;
use crate::error::{Error, ErrorKind, Result};
use crate::pricing;
use crate::pricing::table::Table;
use crate::store::Store;

/// Returns a pinned policy; nothing where none has this number. One that cannot be read is damaged: it must not pass for a policy
/// without limits.
pub fn stored(store: &Store, id: Option<i64>) -> Result<Option<Policy>> {
    let text = id.map(|id| store.policy(id)).transpose()?.flatten();
    let policy = text.as_deref().map(serde_json::from_str).transpose();
    policy.map_err(|cause| {
        Error::failed(format!("the pinned policy cannot be read: {cause}")).of_kind(ErrorKind::Corrupt)
    })
}

/// Returns the prices of a policy that brings a person's own, where one is named; else, or where it was taken away, the
/// embedded ones.
pub fn prices(store: &Store, policy: Option<i64>) -> Table {
    let policy = policy.and_then(|id| stored(store, Some(id)).ok().flatten());
    pricing::table(&policy.map(|policy| policy.prices).unwrap_or_default()).0
}
