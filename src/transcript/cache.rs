//! What the prompt cache does to the price of the next request: it reads what this one wrote, or writes all of it again.

use crate::domain::conversation::LONG_CACHE_MS;
use crate::domain::conversation::Last;
use crate::pricing::usage::{TokenUsage, Tokens};

/// Returns what a response would use once more, where it has written to the cache what it would read then.
///
/// Where the cache had less than half of what was sent before, that is what it lost. In a conversation that begins it is all
/// that was written. What is new in the prompt stays new: the next request has something new, too.
pub fn once_more(usage: &TokenUsage, before: &Last) -> Option<TokenUsage> {
    let Tokens { write_5m, write_1h, cache_read, .. } = usage.tokens();
    let written = write_5m.saturating_add(write_1h);
    let prompt = usage.prompt_tokens();
    let is_first = before.prompt == 0 || is_summary(before);
    let sent = if is_first { prompt } else { before.prompt };
    if written == 0 || cache_read >= sent / 2 {
        return None;
    }
    let new = if is_first { 0 } else { prompt.saturating_sub(sent) };
    let read = written.saturating_sub(new);
    let from_5m = read.min(write_5m);
    Some(TokenUsage {
        write_5m: write_5m - from_5m,
        write_1h: write_1h.saturating_sub(read - from_5m),
        cache_read: cache_read.saturating_add(read),
        ..usage.clone()
    })
}

/// Returns what the next request uses where the cache does not have the conversation, by its last response: that is too long ago,
/// or the request is another's, so that the cache has it for other instructions or tools, or not for its model.
pub fn resent(last: &Last, at_ms: i64, is_another: bool) -> Option<TokenUsage> {
    let is_over = at_ms.saturating_sub(last.at_ms) > i64::from(last.cached_ms);
    if last.prompt == 0 || last.cached_ms == 0 || !(is_over || is_another || is_summary(last)) {
        return None;
    }
    let sent = last.prompt.saturating_add(last.output);
    let (write_5m, write_1h) = if last.cached_ms == LONG_CACHE_MS { (0, sent) } else { (sent, 0) };
    Some(TokenUsage { output: last.output, write_5m, write_1h, fast: last.fast, us: last.us, ..TokenUsage::default() })
}

/// Whether it is no response, but a compaction's summary, which was never sent.
fn is_summary(last: &Last) -> bool {
    last.is_cold && last.output == 0
}
