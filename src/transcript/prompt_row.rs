//! The rows of prompts that matter here: those that notify of a background task, and a compaction's summary.

use std::borrow::Cow;

use serde::Deserialize;

use crate::transcript::field::{Content, Text, short};
use crate::transcript::rows::moment;

/// What a prompt's row shows.
pub enum Prompted<'a> {
    /// A background task notifies.
    Notification,
    /// A compaction has written its summary.
    Summary(SummaryRow<'a>),
    /// Anything else.
    Other,
}

/// The row of a compaction's summary.
pub struct SummaryRow<'a> {
    /// The row's own id, which a fork's copy keeps.
    pub uuid: Cow<'a, str>,
    /// When, by the client's clock; `None` where the row does not say.
    pub at_ms: Option<i64>,
    /// How many bytes of text the summary is.
    pub length: u64,
}

/// Parses a line that may be a prompt's.
pub fn parse(line: &[u8]) -> Prompted<'_> {
    let Ok(row) = serde_json::from_slice::<PromptRow>(line) else { return Prompted::Other };
    let content = row.message.map(|message| message.content).unwrap_or_default();
    let by_origin = row.origin.is_some_and(|origin| origin.kind.0 == "task-notification");
    if row.kind.0 != "user" {
        return Prompted::Other;
    }
    if row.is_summary == Some(true) && !row.uuid.0.is_empty() {
        let at_ms = moment(&row.timestamp);
        return Prompted::Summary(SummaryRow { uuid: short(row.uuid.0), at_ms, length: content.length });
    }
    if by_origin || content.opens_as_notification { Prompted::Notification } else { Prompted::Other }
}

#[derive(Deserialize)]
struct PromptRow<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    origin: Option<PromptOrigin<'a>>,
    message: Option<Prompt>,
    #[serde(rename = "isCompactSummary")]
    is_summary: Option<bool>,
    #[serde(borrow, default)]
    uuid: Text<'a>,
    #[serde(borrow, default)]
    timestamp: Text<'a>,
}

#[derive(Deserialize)]
struct PromptOrigin<'a> {
    #[serde(borrow, default)]
    kind: Text<'a>,
}

#[derive(Deserialize)]
struct Prompt {
    #[serde(default)]
    content: Content,
}
