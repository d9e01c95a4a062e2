//! What a compaction asks of the model. Its request is in no transcript, its summary is: what it used is estimated by that and by
//! the conversation's last response.
//!
//! The client sends the conversation as it stands, with its model and tools, and asks for a summary behind it. Seen in clients
//! 2.1.214 to 2.1.330. The cache has the conversation where the same client has just sent it to the same model.

use std::borrow::Cow;

use crate::domain::conversation::{Conversation, LONG_CACHE_MS, Last, SHORT_CACHE_MS};
use crate::domain::spend::charge;
use crate::pricing::usage::TokenUsage;
use crate::transcript::response::{Response, Summary};

/// How many tokens the client asks with: 6.5 KB.
const INSTRUCTIONS: u64 = 1_600;
/// How many bytes of a summary stand for a token: the client drops what the model has written before it, to think.
const BYTES_A_TOKEN: u64 = 3;
/// How many tokens a summary has as a rule.
const USUAL: u64 = 2_000;

/// How a compaction asks.
pub struct Asks {
    /// The model.
    pub model: String,
    /// Whether the cache cannot have the conversation, whenever that was sent last.
    pub is_cold: bool,
}

/// Returns the response that a summary's row stands for, as far as that tells.
pub fn response(uuid: &str, at_ms: Option<i64>, summary: Summary) -> Response {
    Response {
        id: charge::of_compaction(uuid),
        at_ms: at_ms.unwrap_or(0),
        summary: Some(summary),
        ..Response::default()
    }
}

/// Returns a response as it stands, of a compaction with what that is taken to have used, in the conversation that the response
/// goes on.
pub fn complete<'r>(told: &mut Conversation, response: &'r Response, asks: impl FnOnce() -> Asks) -> Cow<'r, Response> {
    let Some(summary) = response.summary else { return Cow::Borrowed(response) };
    let Asks { model, is_cold } = asks();
    let usage = usage(told, response.at_ms, summary.length, is_cold || summary.is_by_another_client);
    Cow::Owned(Response { model, usage, ..response.clone() })
}

/// Completes the responses of a whole transcript, as [`complete`] does one.
pub fn complete_all(responses: &mut [Response]) {
    let first = responses.iter().find(|response| !response.model.is_empty());
    let (mut told, mut model) = (Conversation::default(), first.map(|first| first.model.clone()).unwrap_or_default());
    for response in responses {
        let asked = if response.model.is_empty() { model.clone() } else { response.model.clone() };
        match complete(&mut told, response, || Asks { model: asked, is_cold: false }) {
            Cow::Owned(completed) => *response = completed,
            Cow::Borrowed(_) => note(&mut told, response, response.billed_by.is_some()),
        }
        model.clone_from(&response.model);
    }
}

/// Returns the compaction of a conversation that is about to be asked for, with what it may use. Where no response is known, the
/// conversation is `context` tokens long.
pub fn ahead(told: Conversation, at_ms: i64, context: u64, asks: impl FnOnce() -> Asks) -> Response {
    let mut told = told;
    if told.last.prompt == 0 {
        told.last = Last { prompt: context, cached_ms: SHORT_CACHE_MS, is_cold: true, ..Last::default() };
    }
    let summary = Summary { length: USUAL * BYTES_A_TOKEN, ..Summary::default() };
    complete(&mut told, &response("", Some(at_ms), summary), asks).into_owned()
}

/// Takes note of what a compaction would send again, by a response that is believed.
///
/// A fork's copies were sent by another client. Those of before a summary may stand behind it.
pub fn note(told: &mut Conversation, response: &Response, is_copy: bool) {
    if is_copy && response.at_ms < told.last.at_ms {
        return;
    }
    let TokenUsage { output, write_1h, fast, us, .. } = response.usage;
    let tokens = response.usage.tokens();
    let is_cached = tokens.prompt() > tokens.input;
    // A prompt that is read from the cache says not for how long that was written.
    let kept_before = is_cached && told.last.cached_ms == LONG_CACHE_MS && response.usage.write_5m == 0;
    let cached_ms = match is_cached {
        true if write_1h > 0 || kept_before => LONG_CACHE_MS,
        true => SHORT_CACHE_MS,
        false => 0,
    };
    told.last = Last { at_ms: response.at_ms, prompt: tokens.prompt(), output, cached_ms, is_cold: is_copy, fast, us };
}

/// Returns what a compaction used, and has the conversation go on from its summary, which was never sent.
fn usage(told: &mut Conversation, at_ms: i64, length: u64, is_cold: bool) -> TokenUsage {
    let last = told.last;
    let Last { prompt, output, cached_ms, fast, us, .. } = last;
    let summary = length / BYTES_A_TOKEN;
    told.most = 0;
    told.last = Last { at_ms, prompt: summary.saturating_add(INSTRUCTIONS), output: 0, is_cold: true, ..last };
    let usage = TokenUsage { input: INSTRUCTIONS, output: summary, fast, us, ..TokenUsage::default() };
    let is_warm = !is_cold && !last.is_cold && at_ms.saturating_sub(last.at_ms) <= i64::from(cached_ms);
    let (read, new) = if is_warm { (prompt, output) } else { (0, prompt.saturating_add(output)) };
    match cached_ms {
        0 => TokenUsage { input: INSTRUCTIONS.saturating_add(prompt).saturating_add(output), ..usage },
        LONG_CACHE_MS => TokenUsage { cache_read: read, write_1h: new, ..usage },
        _ => TokenUsage { cache_read: read, write_5m: new, ..usage },
    }
}
