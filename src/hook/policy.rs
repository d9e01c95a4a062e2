//! The policies that clients are pinned to, as they lie in the state.

use crate::config::policy::Policy;
use crate::error::{Error, ErrorKind, Result};
use crate::pricing;
use crate::pricing::table::Table;
use crate::store::Store;

/// How the names of pinned policies begin.
pub const POLICY: &str = "policy:";

/// Returns a pinned policy; nothing where none has this name. One that cannot be read is damaged: it must not pass for a policy
/// without limits.
pub fn stored(store: &Store, name: &str) -> Result<Option<Policy>> {
    let text = store.metadata(&policy_fact(name))?;
    let policy = text.as_deref().map(serde_json::from_str).transpose();
    policy.map_err(|cause| {
        Error::failed(format!("the pinned policy cannot be read: {cause}")).of_kind(ErrorKind::Corrupt)
    })
}

/// Returns the name of the fact that a policy is.
pub fn policy_fact(name: &str) -> String {
    format!("{POLICY}{name}")
}

/// Returns the prices of a policy that brings a person's own, where one is named; else, or where it was taken away, the
/// embedded ones.
pub fn prices(store: &Store, policy: Option<&str>) -> Table {
    let policy = policy.and_then(|name| stored(store, name).ok().flatten());
    pricing::table(&policy.map(|policy| policy.prices).unwrap_or_default()).0
}
