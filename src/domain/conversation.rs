//! How long the conversation of a transcript is. A response whose prompt does not fit that length is doubted.

use serde::{Deserialize, Serialize};

use crate::domain::stored::serde_default::is_default;
use crate::domain::time_units::{HOUR_MS, MINUTE_MS};

/// The smallest part that a conversation may shrink to by itself. A client that drops the results of old calls keeps the last ones,
/// the instructions and the messages.
const PART: u64 = 8;
/// The smallest part of the main agent's prompts that another agent's first prompt may be: it has instructions and a task, too.
const PART_OF_MAIN: u64 = 1_000;
/// How long the cache keeps a prompt where nothing asks for more, in milliseconds.
pub const SHORT_CACHE_MS: u32 = 5 * MINUTE_MS as u32;
/// The longest that it does.
pub const LONG_CACHE_MS: u32 = HOUR_MS as u32;

/// The prompt of a response, by its usage.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// Its length in tokens.
    pub tokens: u64,
    /// Whether some of it was read from the cache or written to it.
    pub is_cached: bool,
}

/// How long the conversation of one transcript is, in prompt tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its longest prompt since the last compaction; 0 where none was seen since.
    pub most: u64,
    /// Whether the cache was said to have a part of one. A gateway that leaves that out tells only what is new in a prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tells_cache: bool,
    /// How often the session had been compacted by then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compactions: u64,
    /// Its last response. A compaction sends the same prompt again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub last: Last,
}

/// What is known of a conversation's last response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// Its prompt.
    pub prompt: u64,
    /// Its output.
    pub output: u64,
    /// How long its prompt stays in the cache, in milliseconds; 0 where it is not cached.
    pub cached_ms: u32,
    /// Whether the cache cannot have it: another client has sent it, or it is a summary that was never sent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_cold: bool,
    /// Whether it was served in fast mode.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fast: bool,
    /// Whether inference was bound to the United States.
    #[serde(default, skip_serializing_if = "is_default")]
    pub us: bool,
}

impl Last {
    /// Returns what is known of a conversation that another session has had.
    pub fn of_length(prompt: u64, at_ms: i64) -> Last {
        Last { at_ms, prompt, cached_ms: SHORT_CACHE_MS, ..Last::default() }
    }
}

impl Conversation {
    /// Adds the prompt of the next response, and returns whether it can belong to this conversation. `cuts` is how often the
    /// session was compacted, `main` the main agent's conversation.
    pub fn believes(&mut self, prompt: Prompt, cuts: u64, main: Conversation) -> bool {
        if self.compactions != cuts {
            (self.compactions, self.most) = (cuts, 0);
        }
        let least = match self.most {
            0 if main.tells_cache => main.most / PART_OF_MAIN,
            most if self.tells_cache => most / PART,
            _ => 0,
        };
        let is_credible = prompt.tokens >= least;
        if is_credible {
            self.follow(prompt, self.most, cuts);
        }
        is_credible
    }

    /// Adds a prompt from a time that no hook has seen, without a check.
    pub fn trusts(&mut self, prompt: Prompt, cuts: u64) {
        self.follow(prompt, 0, cuts);
    }

    fn follow(&mut self, prompt: Prompt, most: u64, cuts: u64) {
        (self.most, self.compactions) = (most.max(prompt.tokens), cuts);
        self.tells_cache |= prompt.is_cached;
    }
}
