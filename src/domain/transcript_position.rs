//! How far transcripts have been read, and what of them is left.

use serde::{Deserialize, Serialize};

use crate::domain::conversation::Conversation;
use crate::domain::stored::serde_default::is_default;

/// How far a transcript has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptPosition {
    /// The file.
    pub path: String,
    /// Bytes read.
    pub offset: u64,
    /// How long its conversation was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversation: Conversation,
}

/// What is left of a transcript that one event could not take in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// The bytes that are left.
    pub bytes: u64,
    /// Whether reading goes on inside a line that is passed over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inside: bool,
}

/// The agents of a session that this one was forked from, and how far they have been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// The session.
    pub session: String,
    /// The transcript at hand; those before it have been read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: TranscriptPosition,
}
