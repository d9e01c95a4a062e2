//! Estimating: what a request may cost of which nothing is on disk yet.

use crate::engine::amount::Amount;
use crate::engine::book::Book;
use crate::engine::meters::Spend;
use crate::engine::rules::Rules;
use crate::engine::session::Run;

/// How many requests an estimate is made from.
pub const RECENT: usize = 5;

/// Estimates a first request.
pub fn first(book: &Book) -> Spend {
    book.first_request.unwrap_or_else(|| book.session.tally.spent.mean())
}

/// Estimates a response of a run that is not on disk.
pub fn unwritten(book: &Book, run: &Run) -> Spend {
    if run.recent.is_empty() { first(book) } else { next(run, &Rules::default()) }
}

/// Estimates the next request: the mean of the last five, or the conversation read again from the cache, if that is more.
pub fn next(run: &Run, rules: &Rules) -> Spend {
    let count = (run.recent.len() as u64).max(1);
    let sum: Spend = run.recent.iter().map(|request| request.spend).fold(Spend::default(), std::ops::Add::add);
    let mean = Spend {
        requests: 1,
        tokens: sum.counting_cache_reads(rules.count_cache_reads).tokens.div_ceil(count),
        cache_reads: sum.cache_reads.div_ceil(count),
        cost: Amount(sum.cost.0.div_ceil(count)),
    };
    at_least_again(run, mean)
}

/// Estimates the next request to some models by the mean of all that went to them: the last five may have gone elsewhere.
pub fn next_of(run: &Run, rules: &Rules, spent: Spend) -> Spend {
    at_least_again(run, spent.counting_cache_reads(rules.count_cache_reads).mean())
}

fn at_least_again(run: &Run, mean: Spend) -> Spend {
    let count = (run.recent.len() as u64).max(1);
    let output = run.recent.iter().map(|request| request.output).sum::<u64>() / count;
    let (read, write) = run.replay_price;
    let again = Amount(run.context.saturating_mul(read).saturating_add(output.saturating_mul(write)));
    Spend { cost: mean.cost.max(again), ..mean }
}
