//! Small facts by name: pinned policies, trust, means of first requests.

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Returns a fact.
    pub fn metadata(&self, name: &str) -> Result<Option<String>> {
        self.text(&format!("x/fact/{name}"))
    }

    /// Sets a fact.
    pub fn set_metadata(&self, name: &str, value: &str) -> Result<()> {
        self.put_text(&format!("x/fact/{name}"), value)
    }

    /// Forgets a fact.
    pub fn delete_metadata(&self, name: &str) -> Result<()> {
        self.delete(&format!("x/fact/{name}"))
    }

    /// Returns the rests of the names of all facts that begin with `prefix`.
    pub fn metadata_names(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.below(&format!("x/fact/{prefix}"))?.into_iter().map(|(rest, _)| rest).collect())
    }
}
