//! Estimating: what a request may cost of which nothing is on disk yet.

use crate::domain::bounds::OTHER_MODELS;
use crate::domain::conversation::LONG_CACHE_MS;
use crate::domain::event::{Event, EventKind};
use crate::domain::limit_set::LimitSet;
use crate::domain::session::{Counters, Run};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::domain::spend::replay_price::ReplayPrice;
use crate::engine::session_state::SessionState;

/// How many requests an estimate is made from.
pub const RECENT: usize = 5;

/// Estimates a first request.
pub fn first(state: &SessionState) -> Spend {
    state.facts.first_request.unwrap_or_else(|| state.session.counters.spent.mean())
}

/// Estimates a response of a run that is not on disk, or says less than it can have used.
///
/// An agent can add cheap rows to its transcript, or begin one with them. So it is no less than what the run or its session was
/// ever charged for a response on average.
pub fn missing_usage(state: &SessionState, run: &Run) -> Spend {
    let own = if run.recent.is_empty() { first(state) } else { next(run, &LimitSet::default()) };
    own.max(run.counters.typical).max(state.session.counters.typical)
}

/// Counts a response that is over, by an event that says so, in the counters of a run or session, some of whose responses are late.
pub fn note_over(counters: &mut Counters, late: u64, inherited: Spend) {
    counters.over += 1;
    let own = counters.spent.beyond(counters.unlogged).beyond(inherited);
    let mean = Spend { requests: counters.over.saturating_sub(late), ..own }.mean();
    // Of what was counted from transcripts alone no event has said that it is over.
    counters.typical = counters.typical.max(mean.min(counters.dearest));
}

/// Notes the most that a response has spent.
pub fn note_dearest(state: &mut SessionState, id: &str, charge: &Charge) {
    if charge.inherited {
        return;
    }
    let spend = Spend { requests: 1, ..charge.spend };
    state.session.counters.dearest = state.session.counters.dearest.max(spend);
    if let Some(run) = state.run_mut(id) {
        run.counters.dearest = run.counters.dearest.max(spend);
    }
}

/// Returns the model that a run's next request goes to: the last one's, else the one the client started with.
pub fn model_of<'a>(state: &'a SessionState, run: &'a Run) -> &'a str {
    if run.model.is_empty() { state.session.model.as_deref().unwrap_or("") } else { &run.model }
}

/// Returns the model that a response is taken for which is not on disk: the one that the run has spent most on. The last row
/// may be one that the agent has added.
pub fn model_of_missing_usage<'a>(state: &'a SessionState, run: &'a Run) -> &'a str {
    let dearest = run.by_model.iter().filter(|(name, _)| *name != OTHER_MODELS).max_by_key(|(_, spend)| spend.cost);
    match dearest {
        Some((model, spend)) if spend.cost > Amount::ZERO => model,
        _ => model_of(state, run),
    }
}

/// Estimates the next request: the mean of the last five, or the conversation read again from the cache, if that is more.
pub fn next(run: &Run, rules: &LimitSet) -> Spend {
    let count = (run.recent.len() as u64).max(1);
    let sum: Spend = run.recent.iter().map(|request| request.spend).sum();
    let mean = Spend {
        requests: 1,
        tokens: sum.counting_cache_reads(rules.count_cache_reads).tokens.div_ceil(count),
        cache_reads: sum.cache_reads.div_ceil(count),
        cost: Amount(sum.cost.0.div_ceil(count)),
    };
    at_least_again(run, mean)
}

/// Estimates the next request to some models by the mean of all that went to them: the last five may have gone elsewhere.
pub fn next_of(run: &Run, rules: &LimitSet, spent: Spend) -> Spend {
    at_least_again(run, spent.counting_cache_reads(rules.count_cache_reads).mean())
}

/// Estimates a response that has written so many tokens, by the prices of the last one.
pub fn of_output(run: &Run, output: u64) -> Spend {
    let ReplayPrice { cache_read: read, output: write } = run.replay_price;
    let cost = Amount(run.context.saturating_mul(read).saturating_add(output.saturating_mul(write)));
    Spend { requests: 1, tokens: output, cost, ..Spend::default() }
}

/// Estimates the next request of a run where the cache has lost its conversation by then: all of it is written again.
pub fn cold(state: &SessionState, run: &Run) -> Spend {
    let position = if run.is_main() { Some(&state.session.position) } else { run.position.as_ref() };
    let last = position.map(|at| at.conversation.last).unwrap_or_default();
    if last.prompt == 0 || last.cached_ms == 0 {
        return Spend::default();
    }
    let (sent, price) = (last.prompt.saturating_add(last.output), run.replay_price);
    let written = sent.saturating_mul(price.cache_write(last.cached_ms == LONG_CACHE_MS));
    let cost = Amount(written.saturating_add(last.output.saturating_mul(price.output)));
    Spend { requests: 1, tokens: sent.saturating_add(last.output), cost, ..Spend::default() }
}

/// Estimates the next request of a run that sends so many tokens of results: they are new to the cache.
pub fn with_results(state: &SessionState, run: &Run, results: u64) -> Spend {
    let position = if run.is_main() { Some(&state.session.position) } else { run.position.as_ref() };
    let is_for_an_hour = position.is_some_and(|at| at.conversation.last.cached_ms == LONG_CACHE_MS);
    let written = results.saturating_mul(run.replay_price.cache_write(is_for_an_hour));
    let again = of_output(run, mean_output(run));
    let cost = Amount(again.cost.0.saturating_add(written));
    Spend { tokens: again.tokens.saturating_add(results), cache_reads: run.context, cost, ..again }
}

/// How many tokens of results are no usual part of a request, which the mean of the last five has.
const LARGE_RESULTS: u64 = 4_000;

/// Notes what the request after a batch with large results is expected to spend at the least: it sends them.
pub fn note_results(state: &mut SessionState, id: &str, event: &Event) {
    let EventKind::BatchEnded(calls) = &event.kind else { return };
    let results: u64 = calls.iter().map(|call| call.result_tokens).sum();
    if results < LARGE_RESULTS {
        return;
    }
    let Some(ahead) = state.run(id).map(|run| with_results(state, run, results)) else { return };
    state.facts.request_ahead = state.facts.request_ahead.max(ahead);
}

fn mean_output(run: &Run) -> u64 {
    run.recent.iter().map(|request| request.output).sum::<u64>() / (run.recent.len() as u64).max(1)
}

fn at_least_again(run: &Run, mean: Spend) -> Spend {
    Spend { cost: mean.cost.max(of_output(run, mean_output(run)).cost), ..mean }
}
