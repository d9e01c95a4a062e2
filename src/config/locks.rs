//! Keys that others may not set as they like: those that the managed file has `locked`, and a repository's `binding` ones.

use serde_json::Value;

use crate::config::key::Apply;
use crate::config::keys;
use crate::config::limit_name;
use crate::config::place::{SettingPlace, Who};
use crate::config::problem::{Problem, nearest};
use crate::config::resolved::Resolved;
use crate::config::setting::Document;
use crate::domain::pattern;
use crate::domain::policy::Layer;
use crate::limits::REGISTRY;

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

/// Returns what is wrong of patterns that name no key, by an alias or a slip: what they were meant for would stay open.
pub fn idle(document: &Document, at: &str, patterns: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for pattern in patterns {
        let name = pattern.rsplit('.').next().unwrap_or(pattern);
        let names = || keys::all().map(|key| key.name).chain(REGISTRY.iter().map(|limit| limit.key));
        if name.contains('*') || names().any(|known| known == name) {
            continue;
        }
        let problem = Problem::of_key(document, at, &Value::from(pattern.as_str())).says("names no key");
        let limit = limit_name::named(name).map(|named| named.limit.key);
        problems.push(match limit.or_else(|| nearest(name, names())) {
            Some(nearest) => problem.hint(format!("the nearest is `{nearest}`")),
            None => problem,
        });
    }
    problems
}

/// Whether a lock binds a layer: what is built in stays, and the managed file may say what it likes.
pub fn bind(layer: Layer) -> bool {
    !matches!(layer, Layer::BuiltIn | Layer::Managed)
}
