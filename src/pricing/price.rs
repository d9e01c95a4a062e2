//! The arithmetic: what a response cost, in whole pico-dollars.

use crate::domain::spend::amount::Amount;
use crate::domain::spend::replay_price::ReplayPrice;
use crate::pricing::price_row::{Price, Rates};
use crate::pricing::table::{LAST_RESORT, Table};
use crate::pricing::usage::{Iteration, PartKind, TokenUsage, Tokens};

/// What a response cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priced {
    /// List price.
    pub cost: Amount,
    /// Whether every model in it has a price of its own.
    pub known: bool,
}

/// Prices a response of `model` at the moment it was given.
///
/// A model without a price costs what `stand_in`, the session's main model, costs in standard mode, else the client's
/// last resort. It is never free.
pub fn price(table: &Table, model: &str, at_ms: i64, usage: &TokenUsage, stand_in: Option<&str>) -> Priced {
    let moment = PricesAt { table, at_ms, stand_in };
    let main = moment.model(model);
    let mut known = main.known;
    let mut tokens = main.passes(usage, &moment);
    for part in usage.parts.iter().filter(|part| part.kind != PartKind::Message) {
        let served = moment.part(&main, part);
        known &= served.known;
        if part.kind == PartKind::Advisor {
            tokens = tokens.saturating_add(served.whole(part.tokens, usage.fast));
        }
    }
    let percent = if usage.us { main.price.us_percent } else { 100 };
    let searches = u128::from(usage.web_searches) * u128::from(main.price.web_search);
    let cost = (tokens.saturating_mul(u128::from(percent)) / 100).saturating_add(searches);
    Priced { cost: Amount(u64::try_from(cost).unwrap_or(u64::MAX)), known }
}

/// Returns the first model of a response that has no price of its own: the one that answered, or one that it names a part of.
pub fn without_price<'a>(table: &Table, model: &'a str, at_ms: i64, usage: &'a TokenUsage) -> Option<&'a str> {
    let parts = usage.parts.iter().filter(|part| part.kind != PartKind::Message);
    let mut models = std::iter::once(model).chain(parts.filter_map(|part| part.model.as_deref()));
    models.find(|model| table.find(model, at_ms).is_none())
}

/// Returns what sending a conversation again costs.
pub fn replay_price(table: &Table, model: &str, at_ms: i64, stand_in: Option<&str>) -> ReplayPrice {
    let Rates { cache_read, output, .. } = PricesAt { table, at_ms, stand_in }.model(model).price.standard;
    ReplayPrice { cache_read, output }
}

/// The prices at one moment of one session.
struct PricesAt<'a> {
    table: &'a Table,
    at_ms: i64,
    stand_in: Option<&'a str>,
}

/// The price of a model, and whether it is its own.
#[derive(Clone, Copy)]
struct ModelPrice {
    price: Price,
    known: bool,
}

impl PricesAt<'_> {
    fn model(&self, model: &str) -> ModelPrice {
        if let Some(price) = self.table.find(model, self.at_ms) {
            return ModelPrice { price: *price, known: true };
        }
        let price = self.stand_in.and_then(|model| self.table.find(model, self.at_ms)).unwrap_or(&LAST_RESORT);
        ModelPrice { price: *price, known: false }
    }

    fn part(&self, main: &ModelPrice, part: &Iteration) -> ModelPrice {
        part.model.as_deref().map_or(*main, |model| self.model(model))
    }
}

impl ModelPrice {
    /// Prices what the totals contain: as a whole, or pass by pass where that makes a difference.
    fn passes(&self, usage: &TokenUsage, moment: &PricesAt) -> u128 {
        let inside = || usage.parts.iter().filter(|part| part.kind != PartKind::Advisor);
        let sum = inside().fold(Tokens::default(), |sum, part| sum.plus(part.tokens));
        let fell_back = inside().any(|part| part.kind == PartKind::Fallback);
        if !fell_back && (self.price.long_prompt.is_none() || sum != usage.tokens()) {
            return self.whole(usage.tokens(), usage.fast);
        }
        let passes = inside().map(|part| {
            // A server's fallback has no price for writes of an hour.
            let tokens = if fell_back { part.tokens.without_1h() } else { part.tokens };
            moment.part(self, part).whole(tokens, usage.fast)
        });
        // Tokens that no pass accounts for are the asked model's: a list that is short makes nothing free.
        let unlisted = usage.tokens().without_1h().minus(sum.without_1h());
        passes.fold(self.whole(unlisted, usage.fast), u128::saturating_add)
    }

    /// Prices one request.
    fn whole(&self, tokens: Tokens, fast: bool) -> u128 {
        let rates = self.rates(tokens.prompt(), fast);
        [
            (tokens.input, rates.input),
            (tokens.output, rates.output),
            (tokens.write_5m, rates.write_5m),
            (tokens.write_1h, rates.write_1h),
            (tokens.cache_read, rates.cache_read),
        ]
        .map(|(count, rate)| u128::from(count) * u128::from(rate))
        .into_iter()
        .fold(0, u128::saturating_add)
    }

    fn rates(&self, prompt: u64, fast: bool) -> Rates {
        match (self.price.long_prompt, self.price.fast) {
            (Some(long), _) if prompt > long.over => long.rates,
            (_, Some(rates)) if fast && self.known => rates,
            _ => self.price.standard,
        }
    }
}

#[cfg(test)]
mod tests;
