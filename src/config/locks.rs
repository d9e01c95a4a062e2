//! Keys that others may not set as they like: those that the managed file has `locked`, and a repository's `binding` ones.

use crate::config::key::Apply;
use crate::config::keys;
use crate::config::place::{SettingPlace, Who};
use crate::config::resolved::Resolved;
use crate::config::setting::Document;
use crate::domain::pattern;
use crate::domain::policy::Layer;

/// Patterns of keys.
#[derive(Clone, Debug, Default)]
pub struct Locks(Vec<String>);

impl Locks {
    /// Collects what the managed documents lock.
    pub fn of(documents: &[&Document]) -> Locks {
        Locks(said_by(Layer::Managed, documents).locked)
    }

    /// Collects what the repository's documents bind.
    pub fn binding(documents: &[&Document]) -> Locks {
        Locks(said_by(Layer::Project, documents).binding)
    }

    /// Whether nothing is locked, which spares asking for every key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is locked in a block about `who`: by its path, or by its name in any block.
    pub fn hold(&self, who: Who<'_>, key: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let path = format!("{}{key}", who.path());
        self.0.iter().any(|lock| pattern::matches(lock, &path) || pattern::matches(lock, key))
    }
}

/// Returns what the documents of a layer say at their top.
pub fn said_by<'a>(layer: Layer, documents: &[&'a Document]) -> Resolved<'a> {
    let mut said = Resolved::default();
    for document in documents.iter().filter(|document| document.layer == layer) {
        for setting in document.settings.iter().filter(|setting| setting.place == SettingPlace::Top) {
            if let Apply::Value(apply) = keys::row(&setting.subject).apply {
                apply(&mut said, setting, layer);
            }
        }
    }
    said
}

/// Whether a lock binds a layer: what is built in stays, and the managed file may say what it likes.
pub fn bind(layer: Layer) -> bool {
    !matches!(layer, Layer::BuiltIn | Layer::Managed)
}
