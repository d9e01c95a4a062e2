//! A setting: one typed value, where it stands and what it sets; and a document, which is a list of them.

use std::borrow::{Borrow, Cow};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::place::SettingPlace;
use crate::config::setting_value::SettingValue;
use crate::domain::layer::Layer;
use crate::domain::limit::Limit;
use crate::domain::stable_sort::sort_by_key;

/// What a setting sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The name of its row in [`crate::config::keys`]; empty for the key of a limit itself.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub key: Cow<'static, str>,
    /// The pattern of the models that it is said of; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// The limit that it is said of; `None` for no limit, or for all of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'static Limit>,
}

impl Subject {
    /// Makes the subject of a key that is not said of one limit.
    pub fn of_key(key: &'static str) -> Subject {
        Subject { key: Cow::Borrowed(key), models: None, limit: None }
    }

    /// Makes the subject of what a key says of one limit.
    pub fn of_limit(key: &'static str, limit: &'static Limit) -> Subject {
        Subject { limit: Some(limit), ..Subject::of_key(key) }
    }

    /// Returns the path of its key from the block on: `mode`, `max_turns`, `actions.max_turns`, `models.*opus*.max_tokens`.
    pub fn path(&self) -> String {
        let parts = [Some(&*self.key), self.models.as_deref(), self.limit.map(|limit| limit.key)];
        let key_is_limit = self.key.is_empty();
        parts.into_iter().flatten().skip(usize::from(key_is_limit)).collect::<Vec<_>>().join(".")
    }
}

/// One typed value with what it sets and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// What it is said of.
    pub place: SettingPlace,
    /// What it sets.
    pub subject: Subject,
    /// The value.
    pub value: SettingValue,
    /// The key as it was written, from the top of its document.
    pub key: String,
}

/// What one file, frontmatter or spawn block says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its layer.
    pub layer: Layer,
    /// Where it was read.
    pub path: String,
    /// What it says.
    pub settings: Vec<Setting>,
    /// Whether it declares `execution_limits`, which brings the defaults for what it leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declares: bool,
    /// What was written, to quote it.
    #[serde(skip)]
    pub written: Written,
}

/// Puts documents in the order of their layers; those of one layer stay as they stand.
pub fn order_by_layer<D: Borrow<Document>>(documents: &mut Vec<D>) {
    sort_by_key(documents, |document| document.borrow().layer);
}

/// What a document was read from; `None` where it is not at hand. It is no part of what the document says.
#[derive(Clone, Debug, Default)]
pub struct Written(pub Option<Arc<Value>>);

impl PartialEq for Written {
    fn eq(&self, _other: &Written) -> bool {
        true
    }
}

impl Document {
    /// Returns the value of a key as it was written; the names of agents may have points in them.
    pub fn as_written(&self, key: &str) -> Option<&Value> {
        value_at(self.written.0.as_deref()?, key)
    }

    /// Makes a document that says nothing yet.
    pub fn empty(layer: Layer, path: &str) -> Document {
        Document { layer, path: path.to_owned(), settings: Vec::new(), declares: false, written: Written::default() }
    }
}

/// Returns what stands at a path of keys.
fn value_at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let members = value.as_object()?;
    if let Some(found) = members.get(path) {
        return Some(found);
    }
    members.iter().find_map(|(key, inner)| value_at(inner, path.strip_prefix(key.as_str())?.strip_prefix('.')?))
}
