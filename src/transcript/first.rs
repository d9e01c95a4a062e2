//! Estimates the first request of a session, where nothing is known yet.

use crate::domain::spend::meters::Spend;
use crate::engine::session_state::SessionState;
use crate::pricing::price;
use crate::pricing::table::Table;
use crate::pricing::usage::TokenUsage;
use crate::transcript::stand_in::main_model;

/// What the first request of client 2.1.328 holds without MCP servers: 50 KB of JSON, at four bytes a token.
const PROMPT: u64 = 12_500;
/// A short answer with a call.
const COMPLETION: u64 = 500;

/// Estimates a first request to the next request's model, else the session's, by the length of its prompt at four bytes a token.
pub fn first_request(state: &SessionState, table: &Table, at_ms: i64, prompt: &str) -> Spend {
    let usage = TokenUsage { write_5m: PROMPT + prompt.len() as u64 / 4, output: COMPLETION, ..TokenUsage::default() };
    let main = main_model(state, table, at_ms);
    let model = state.facts.next_model.as_ref().map_or(main.as_str(), |next| &next.name);
    let cost = price::price(table, model, at_ms, &usage, Some(&main)).cost;
    Spend { requests: 1, tokens: usage.counted_tokens(), cache_reads: 0, cost }
}
