//! What is known of the client that has a session open, since it started.

use serde::{Deserialize, Serialize};

/// What is known of the client that has a session open, since it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientStart {
    /// Whether it has shown no response yet. What the cache has of the conversation may be for other instructions or tools.
    pub is_silent: bool,
    /// The model that it named when it started, until it has shown a response.
    pub model: Option<String>,
    /// How many tokens the conversation has that it took up, by its own word; 0 where it gives none.
    pub context_tokens: u64,
    /// The model that the last compaction asked; `None` where the client does not say.
    pub compacts_with: Option<String>,
}

impl ClientStart {
    /// Takes note of a start by its source: a client's, or the one of a conversation that was compacted.
    pub fn note(&mut self, source: &str, (model, context_tokens): (Option<&String>, u64)) {
        if source == "compact" {
            self.compacts_with = model.cloned();
        } else {
            (self.is_silent, self.context_tokens) = (true, context_tokens);
            self.model = model.cloned();
        }
    }

    /// Takes note that it has shown a response: a person may choose another model from here on.
    pub fn works(&mut self) {
        self.is_silent = false;
        self.model = None;
    }
}
