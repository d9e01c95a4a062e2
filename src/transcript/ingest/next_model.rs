//! What a request to another model is expected to spend, by the run's last responses.

use crate::domain::event::Agent;
use crate::domain::limit_set::LimitSet;
use crate::domain::next_model::NextModel;
use crate::domain::session::Run;
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::Spend;
use crate::engine::estimate;
use crate::engine::session_state::SessionState;
use crate::pricing::price;
use crate::pricing::table::canonical;
use crate::pricing::usage::TokenUsage;
use crate::transcript::charges::Charges;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::ingest::request_ahead::asking;
use crate::transcript::stand_in::main_model;

impl<C: Charges> TranscriptIngest<'_, C> {
    /// Returns the dearest of the models that the request at hand may go to, with what it spends there; nothing where all are the
    /// run's last.
    pub fn next_model(&self, state: &SessionState, agent: &Agent, at_ms: i64, names: &[String]) -> Option<NextModel> {
        let (id, _) = asking(state, agent);
        let last = self.last_model(state, id).unwrap_or_default();
        if names.iter().all(|name| canonical(name) == canonical(last)) {
            return None;
        }
        let run = state.run(id).filter(|run| !run.recent.is_empty());
        let models = names.iter().map(|name| {
            let spend = run.map(|run| self.elsewhere(state, run, name, at_ms)).unwrap_or_default();
            (self.price_of(state, name, at_ms), NextModel { name: name.clone(), spend })
        });
        models.max_by_key(|(price, _)| *price).map(|(_, model)| model)
    }

    /// Returns what a request like a run's last ones spends where it goes to a model.
    fn elsewhere(&self, state: &SessionState, run: &Run, model: &str, at_ms: i64) -> Spend {
        let like = estimate::next(run, &LimitSet::default());
        let output = run.recent.iter().map(|request| request.output).sum::<u64>() / run.recent.len().max(1) as u64;
        let new = like.tokens.saturating_sub(output);
        let mean = TokenUsage { output, write_5m: new, cache_read: like.cache_reads, ..TokenUsage::default() };
        let again = TokenUsage { output, cache_read: run.context, ..TokenUsage::default() };
        let cost = [mean, again].map(|usage| self.cost(state, model, at_ms, &usage));
        Spend { cost: cost[0].max(cost[1]), ..like }
    }

    /// Returns what a token of a prompt costs that the model has not seen.
    fn price_of(&self, state: &SessionState, model: &str, at_ms: i64) -> Amount {
        self.cost(state, model, at_ms, &TokenUsage { write_5m: 1_000_000, ..TokenUsage::default() })
    }

    fn cost(&self, state: &SessionState, model: &str, at_ms: i64, usage: &TokenUsage) -> Amount {
        let table = self.prices.table();
        let stand_in = main_model(state, table, at_ms);
        price::price(table, model, at_ms, usage, Some(&stand_in)).cost
    }
}
