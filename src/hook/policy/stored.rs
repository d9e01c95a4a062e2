//! The policies that clients are pinned to, as they lie in the state.

use crate::config::policy::Policy;
use crate::error::{Error, ErrorKind, Result};
use crate::pricing;
use crate::pricing::table::Table;
use crate::store::Store;
use crate::store::damaged::damaged;

/// Returns a pinned policy. One that is not there, or not as it was written, must not pass for a policy without limits.
pub fn stored(store: &Store, id: i64) -> Result<Policy> {
    let text = store.policy(id)?.ok_or_else(|| {
        let what = "another program has changed or deleted the pinned policy in the state";
        Error::failed(what)
            .of_kind(ErrorKind::Altered)
            .hint("wait for the session's next event: it reads the files of its policy again")
    })?;
    serde_json::from_str(&text).map_err(|cause| damaged(format!("the pinned policy cannot be read: {cause}")))
}

/// Returns the prices of a policy that brings a person's own, where one is named, else the embedded ones.
pub fn prices(store: &Store, policy: Option<i64>) -> Result<Table> {
    let policy = policy.map(|id| stored(store, id)).transpose()?;
    Ok(policy.map(|policy| pricing::table(&policy.prices, policy.own_prices()).0).unwrap_or_default())
}
