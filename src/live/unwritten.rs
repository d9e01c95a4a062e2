//! What a response is taken for that is written nowhere, in a session none of whose responses is: else it would be free.

use crate::engine::book::Book;
use crate::engine::event::{Agent, Event, Kind};
use crate::engine::hidden::is_hook_agent;
use crate::engine::meters::Spend;
use crate::engine::session::Run;
use crate::engine::unwritten::{Growth, LATE};
use crate::pricing::price;
use crate::pricing::table::Table;
use crate::pricing::usage::Usage;
use crate::transcript::intake;

/// What the first request of client 2.1.328 holds without MCP servers: 50 KB of JSON, at four bytes a token.
const PROMPT: u64 = 12_500;
/// A short answer with a call.
const COMPLETION: u64 = 500;

/// Whether a batch or an agent's work ends in a session none of whose responses is on disk, and not for lateness.
pub fn is_all(book: &Book, event: &Event) -> bool {
    let is_overdue = |run: &Run| match event.kind {
        // The response whose batch ends is not among the unpaid yet.
        Kind::BatchEnded(_) => run.unpaid >= LATE || is_hook_agent(&run.id),
        Kind::SubagentEnded(_) | Kind::Stopped { .. } => run.unpaid > 0 && run.growth == Growth::Never,
        _ => false,
    };
    let acting = match &event.agent {
        Agent::Main => book.session.main.as_deref(),
        Agent::Sub { id, .. } => Some(id.as_str()),
    };
    book.session.tally.responses() == 0 && acting.and_then(|id| book.run(id)).is_some_and(is_overdue)
}

/// Returns what a first request to the session's model is taken for, by its own prompt; at four bytes a token, too.
pub fn first_request(book: &Book, table: &Table, (at_ms, prompt): (i64, &str)) -> Spend {
    let usage = Usage { write_5m: PROMPT + prompt.len() as u64 / 4, output: COMPLETION, ..Usage::default() };
    let cost = price::price(table, &intake::main_model(book, table, at_ms), at_ms, &usage, None).cost;
    Spend { requests: 1, tokens: usage.counted_tokens(), cache_reads: 0, cost }
}
