//! Small facts by name: pinned policies, trust, means of first requests.

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Returns a fact.
    pub fn fact(&self, name: &str) -> Result<Option<String>> {
        self.text(&format!("x/fact/{name}"))
    }

    /// Sets a fact.
    pub fn set_fact(&self, name: &str, value: &str) -> Result<()> {
        self.put_text(&format!("x/fact/{name}"), value)
    }

    /// Forgets a fact.
    pub fn forget_fact(&self, name: &str) -> Result<()> {
        self.forget(&format!("x/fact/{name}"))
    }

    /// Returns the rests of the names of all facts that begin with `prefix`.
    pub fn facts_named(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.below(&format!("x/fact/{prefix}"))?.into_iter().map(|(rest, _)| rest).collect())
    }
}
