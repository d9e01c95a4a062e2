//! What is known of the client that has a session open, since it started.

use serde::{Deserialize, Serialize};

use crate::domain::spend::amount::Amount;
use crate::domain::start_source::StartSource;
use crate::domain::stored::serde_default::is_default;

/// What is known of the client that has a session open, since it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientStart {
    /// Whether it has shown no response yet. What the cache has of the conversation may be for other instructions or tools.
    #[serde(skip_serializing_if = "is_default")]
    pub is_silent: bool,
    /// The model that its next request goes to, where it or what started it names one, until it has shown a response.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Option<String>,
    /// Whether an event came over a channel that it has opened: from then on only such events of the session are believed.
    #[serde(skip_serializing_if = "is_default")]
    pub tells_over_channel: bool,
    /// How many agents have begun past a cap that is used up, which no admitted call is known to have started.
    #[serde(skip_serializing_if = "is_default")]
    pub starts_past_cap: u32,
    /// The most admitted calls that waited for their agents meanwhile.
    #[serde(skip_serializing_if = "is_default")]
    pub awaited_past_cap: u32,
    /// What the client's own total was, and what was counted by then, when they were compared last.
    #[serde(skip_serializing_if = "is_default")]
    pub compared: Option<(Amount, Amount)>,
    /// The client's own total, as its status line was told last.
    #[serde(skip_serializing_if = "is_default")]
    pub told: Option<Amount>,
    /// The client's own total when the last batch ended: the rows of that time are on disk by the end of the next.
    #[serde(skip_serializing_if = "is_default")]
    pub told_before: Option<Amount>,
    /// What was counted then; nothing once both are compared.
    #[serde(skip_serializing_if = "is_default")]
    pub own_before: Option<Amount>,
    /// The total, and what was counted, from which both are compared.
    #[serde(skip_serializing_if = "is_default")]
    pub told_from: Option<(Amount, Amount)>,
    /// The model that the conversation went to before a command that has a model of its own: the prompt after that goes there again.
    #[serde(skip_serializing_if = "is_default")]
    pub before_command: Option<String>,
    /// What named that model when it started: its command line or environment. Gateways know models by other names.
    #[serde(skip_serializing_if = "is_default")]
    pub word: Option<String>,
    /// How many tokens the conversation has that it took up, by its own word; 0 where it gives none.
    #[serde(skip_serializing_if = "is_default")]
    pub context_tokens: u64,
    /// The model that the last compaction asked; `None` where the client does not say.
    #[serde(skip_serializing_if = "is_default")]
    pub compacts_with: Option<String>,
}

impl ClientStart {
    /// Takes note of a start by its source: a client's, or the one of a conversation that was compacted.
    pub fn note(&mut self, source: &StartSource, model: Option<&String>, context_tokens: u64) {
        if *source == StartSource::Compact {
            self.compacts_with = model.cloned();
        } else {
            (self.is_silent, self.context_tokens) = (true, context_tokens);
            (self.told, self.told_before, self.own_before) = (None, None, None);
            self.told_from = (*source == StartSource::Startup).then_some((Amount::ZERO, Amount::ZERO));
            self.model = model.cloned();
        }
    }

    /// Takes note of the model that the client was started with, where its own event names none. The same word as before names
    /// what has answered since, `goes_on` says.
    pub fn started_with(&mut self, word: Option<String>, goes_on: bool) {
        let is_same = goes_on && word.is_some() && self.word == word;
        if self.model.is_none() && !is_same {
            self.model.clone_from(&word);
        }
        self.word = word;
    }

    /// Takes note that the client goes on with another model.
    pub fn switches(&mut self, model: String) {
        (self.model, self.word, self.before_command) = (Some(model), None, None);
    }

    /// Takes note that it has shown a response: a person may choose another model from here on.
    pub fn works(&mut self) {
        self.is_silent = false;
        self.model = None;
    }
}
