//! What the result of a call says of whether it was made. Results are JSON here, as they come.

use crate::byte_search;
use crate::domain::notified::unsigned;

/// How the result of a call begins that was not made: the client itself rejects it (an unknown tool, an input that does not fit),
/// or a hook denies it. Where several hooks do, the client tells what the last one said.
const NOT_MADE: [&str; 2] = ["\"<tool_use_error>", "\"PreToolUse:"];

/// How the result begins of a call whose dialog a person has answered No: the main agent's, a subagent's.
const ANSWERED_NO: [&str; 2] = [
    "\"The user doesn't want to proceed with this tool use",
    "\"Permission for this tool use was denied. The tool use was rejected",
];

/// How the result begins of a page that the person's permissions deny.
const DENIED: &str = "\"WebFetch denied access to ";

/// How many bytes of text a token is taken for: code and other languages have fewer to one than English prose.
const BYTES_A_TOKEN: u64 = 3;

/// How a result holds what is no text: the bytes of a picture or a document.
const BYTES: &str = "\"data\":\"";

/// How it calls a document before that, and how many bytes before it is looked for: a list may have many parts.
const DOCUMENT: (&[u8], usize) = (b"\"type\":\"document\"", 128);

/// The most tokens that the client's size of pictures comes to, and how many bytes a token of a small one has.
const PICTURE: (u64, u64) = (1_600, 8);

/// How many bytes of a document a token is taken for: it is sent as pictures of its pages, too.
const DOCUMENT_BYTES_A_TOKEN: u64 = 50;

/// Returns how many tokens a result is taken for, which the next request sends.
pub fn tokens(result: &str) -> u64 {
    let (mut text, mut others) = (result.len() as u64, 0);
    // Content of several parts is a list.
    let parts = if result.starts_with('[') { result } else { "" };
    for (at, _) in parts.match_indices(BYTES) {
        let bytes = result[at + BYTES.len()..].find('"').unwrap_or_default() as u64;
        let (kind, reach) = DOCUMENT;
        let is_document = byte_search::find(kind, &result.as_bytes()[at.saturating_sub(reach)..at]).is_some();
        let (most, a_token) = PICTURE;
        others += if is_document { bytes / DOCUMENT_BYTES_A_TOKEN } else { (bytes / a_token).min(most) };
        text = text.saturating_sub(bytes);
    }
    text / BYTES_A_TOKEN + others
}

/// Whether a call was not made: the client or a hook kept it from that.
pub fn was_not_made(result: &str) -> bool {
    NOT_MADE.iter().any(|begins| result.starts_with(begins))
}

/// Whether Fusebox has refused a call.
pub fn was_refused(result: &str) -> bool {
    let denied = result.strip_prefix(NOT_MADE[1]).and_then(|rest| rest.split_once(" hook error: "));
    denied.is_some_and(|(_, reason)| unsigned(reason) != reason)
}

/// Whether a person has answered a call's dialog No.
pub fn was_answered_no(result: &str) -> bool {
    ANSWERED_NO.iter().any(|begins| result.starts_with(begins))
}

/// Whether a person's permissions deny a page.
pub fn was_denied(result: &str) -> bool {
    result.starts_with(DENIED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part is looked at once: twice as many take twice as long, and no hour.
    #[test]
    fn a_list_of_many_parts_is_read_once() {
        let part = r#"{"type":"image","source":{"type":"base64","data":"iVBORw0KGgoiVBOR"}},"#;
        let parts = 200_000;
        let list = format!("[{}]", part.repeat(parts));
        let text = list.len() as u64 - 16 * parts as u64;
        assert_eq!(tokens(&list), text / BYTES_A_TOKEN + 2 * parts as u64);
    }
}
