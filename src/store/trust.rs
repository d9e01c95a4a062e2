//! Which projects a person trusts: their files may loosen the person's own limits.

use std::path::Path;

use crate::domain::stored::metadata;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::Store;

impl Store {
    /// Whether a person trusts a project.
    pub fn is_trusted(&self, project: &str) -> Result<bool> {
        Ok(self.metadata(&key(project))?.is_some())
    }

    /// Notes that a person trusts a project, with the moment.
    pub fn trust(&self, project: &str, at: &str) -> Result<()> {
        self.set_metadata(&key(project), at)
    }

    /// Notes that a person does not trust a project any more.
    pub fn distrust(&self, project: &str) -> Result<()> {
        self.delete_metadata(&key(project))
    }
}

fn key(project: &str) -> String {
    metadata::TRUST.of(project)
}

/// Whether a person trusts the repository of a folder.
pub fn is_trusted(env: &Environment, folder: &Path) -> bool {
    let project = env.project_of(folder);
    Store::open(env).and_then(|store| store.is_trusted(&project.to_string_lossy())).unwrap_or(false)
}
