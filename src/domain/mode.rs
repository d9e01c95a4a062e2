//! Whether Fusebox blocks or only watches, and what it answers where it fails itself.

use serde::{Deserialize, Serialize};

/// Whether Fusebox blocks or only watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Decides and logs everything, blocks nothing.
    Observe,
    /// Blocks.
    #[default]
    Enforce,
}

/// What to answer where Fusebox itself fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// Let the call through.
    #[default]
    Allow,
    /// Refuse it.
    Deny,
}
