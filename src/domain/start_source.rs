//! Why a session starts or goes on.

use serde::Deserialize;

/// Why a session starts or goes on, by the client's word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum StartSource {
    /// A new conversation begins.
    Startup,
    /// An earlier conversation is taken up.
    Resume,
    /// A person has cleared the conversation.
    Clear,
    /// The conversation was compacted: the client works on.
    Compact,
    /// A copy of an earlier conversation is taken up.
    Fork,
    /// A word that this version does not know; empty where the client says none.
    Other(String),
}

impl Default for StartSource {
    fn default() -> StartSource {
        StartSource::Other(String::new())
    }
}

impl From<String> for StartSource {
    fn from(word: String) -> StartSource {
        match word.as_str() {
            "startup" => StartSource::Startup,
            "resume" => StartSource::Resume,
            "clear" => StartSource::Clear,
            "compact" => StartSource::Compact,
            "fork" => StartSource::Fork,
            _ => StartSource::Other(word),
        }
    }
}
