//! What a compaction asks of the model. Its request is in no transcript, its summary is: what it used is estimated by that and by
//! the conversation's last response.
//!
//! The client sends the conversation as it stands, with the same model, tools and cache, and asks for a summary behind it. Seen
//! in clients 2.1.214 to 2.1.330.

use std::borrow::Cow;

use crate::domain::charge;
use crate::domain::conversation::{Conversation, Last};
use crate::pricing::usage::TokenUsage;
use crate::transcript::response::Response;

/// How many tokens the client asks with: 6.5 KB.
const INSTRUCTIONS: u64 = 1_600;
/// How many bytes of a summary stand for a token: the client drops what the model has written before it, to think.
const BYTES_A_TOKEN: u64 = 3;
/// How long the cache keeps a prompt, in milliseconds.
const FIVE_MINUTES_MS: u32 = 300_000;
const HOUR_MS: u32 = 3_600_000;

/// Returns the response that a summary's row stands for, as far as that tells.
pub fn response(uuid: &str, at_ms: Option<i64>, length: u64) -> Response {
    Response {
        id: charge::of_compaction(uuid),
        at_ms: at_ms.unwrap_or(0),
        summary: Some(length),
        ..Response::default()
    }
}

/// Returns a response as it stands, of a compaction with what that is taken to have used, asking a model, in the conversation
/// that the response goes on.
pub fn complete<'r>(told: &mut Conversation, response: &'r Response, model: impl Fn() -> String) -> Cow<'r, Response> {
    let Some(length) = response.summary else { return Cow::Borrowed(response) };
    let usage = usage(told, response.at_ms, length);
    Cow::Owned(Response { model: model(), usage, ..response.clone() })
}

/// Does so for the responses of a whole transcript.
pub fn complete_all(responses: &mut [Response]) {
    let (mut told, mut model) = (Conversation::default(), String::new());
    for response in responses {
        match complete(&mut told, response, || model.clone()) {
            Cow::Owned(completed) => *response = completed,
            Cow::Borrowed(_) => note(&mut told, response),
        }
        model.clone_from(&response.model);
    }
}

/// Takes note of what a compaction would send again, by a response that is believed.
pub fn note(told: &mut Conversation, response: &Response) {
    let TokenUsage { output, write_1h, fast, us, .. } = response.usage;
    let tokens = response.usage.tokens();
    let is_cached = tokens.prompt() > tokens.input;
    // A prompt that is read from the cache says not for how long that was written.
    let kept_before = is_cached && told.last.cached_ms == HOUR_MS && response.usage.write_5m == 0;
    let cached_ms = match is_cached {
        true if write_1h > 0 || kept_before => HOUR_MS,
        true => FIVE_MINUTES_MS,
        false => 0,
    };
    told.last = Last { at_ms: response.at_ms, prompt: tokens.prompt(), output, cached_ms, fast, us };
}

/// Returns what a compaction used, and has the conversation go on from its summary.
fn usage(told: &mut Conversation, at_ms: i64, length: u64) -> TokenUsage {
    let Last { at_ms: before_ms, prompt, output, cached_ms, fast, us } = told.last;
    let summary = length / BYTES_A_TOKEN;
    told.most = 0;
    told.last = Last { prompt: summary.saturating_add(INSTRUCTIONS), output: 0, ..told.last };
    let usage = TokenUsage { input: INSTRUCTIONS, output: summary, fast, us, ..TokenUsage::default() };
    let is_warm = at_ms.saturating_sub(before_ms) <= i64::from(cached_ms);
    let (read, new) = if is_warm { (prompt, output) } else { (0, prompt.saturating_add(output)) };
    match cached_ms {
        0 => TokenUsage { input: INSTRUCTIONS.saturating_add(prompt).saturating_add(output), ..usage },
        HOUR_MS => TokenUsage { cache_read: read, write_1h: new, ..usage },
        _ => TokenUsage { cache_read: read, write_5m: new, ..usage },
    }
}
