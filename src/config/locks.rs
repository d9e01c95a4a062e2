//! What the managed file alone decides: its `locked` keys.

use crate::config::key::Apply;
use crate::config::keys;
use crate::config::place::{SettingPlace, Who};
use crate::config::resolved::Resolved;
use crate::config::setting::Document;
use crate::domain::pattern;
use crate::domain::policy::Layer;

/// The patterns of locked keys.
#[derive(Clone, Debug, Default)]
pub struct Locks(Vec<String>);

impl Locks {
    /// Collects what the managed documents lock.
    pub fn of(documents: &[&Document]) -> Locks {
        let mut said = Resolved::default();
        for document in documents.iter().filter(|document| document.layer == Layer::Managed) {
            for setting in document.settings.iter().filter(|setting| setting.place == SettingPlace::Top) {
                if let Apply::Value(apply) = keys::row(&setting.subject).apply {
                    apply(&mut said, setting, document.layer);
                }
            }
        }
        Locks(said.locked)
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

/// Whether a lock binds a layer: what is built in stays, and the managed file may say what it likes.
pub fn bind(layer: Layer) -> bool {
    !matches!(layer, Layer::BuiltIn | Layer::Managed)
}
