//! What compactions ask, by what the client and its totals say.

use crate::domain::event::Event;
use crate::domain::session::Run;
use crate::domain::spend::meters::Spend;
use crate::engine::session_state::SessionState;
use crate::pricing::price;
use crate::pricing::table::canonical;
use crate::transcript::charges::Charges;
use crate::transcript::compaction::{self, Asks};
use crate::transcript::cursor::{self, Chunk};
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::ingest::request_ahead::asking;
use crate::transcript::response::Response;
use crate::transcript::stand_in::main_model;

impl<C: Charges> TranscriptIngest<'_, C> {
    /// Returns how a compaction of a run's conversation asks, of which something names the model.
    pub(super) fn asks(&self, state: &SessionState, run: &str, named: Option<&str>, stand_in: &str) -> Asks {
        let last = self.last_model(state, run).unwrap_or(stand_in);
        let start = &state.session.client_start;
        let model = named.or(start.model.as_deref()).unwrap_or(last);
        Asks { model: model.to_owned(), is_cold: start.is_silent || canonical(model) != canonical(last) }
    }

    /// Returns the model of a compaction whose summary is written: the client names that of the main conversation, and its total
    /// may show it.
    pub(super) fn compacted_with<'m>(state: &'m SessionState, run: &str, summary: &'m Response) -> Option<&'m str> {
        let is_main = state.run(run).is_none_or(Run::is_main);
        let by_client = state.session.client_start.compacts_with.as_deref().filter(|_| is_main);
        by_client.or(Some(summary.model.as_str())).filter(|model| !model.is_empty())
    }

    /// Returns what a compaction is expected to spend that is about to be made.
    pub(super) fn compaction_ahead(&self, state: &SessionState, event: &Event) -> Spend {
        let (run, told) = asking(state, &event.agent);
        // A fork has no transcript yet. An older client says nothing of its length: it may be the one of the session above.
        let above = state.above.first().map_or(0, |above| above.position.conversation.last.prompt);
        let context = match state.session.client_start.context_tokens {
            0 => above,
            said => said,
        };
        let (table, at_ms) = (self.prices.table(), event.at.wall_ms);
        let stand_in = main_model(state, table, at_ms);
        let asked = compaction::ahead(told, at_ms, context, || self.asks(state, run, None, &stand_in));
        let priced = price::price(table, &asked.model, at_ms, &asked.usage, Some(&stand_in));
        asked.spend(&priced)
    }

    /// Keeps the client's last total with nothing behind it: what is compacted next is compacted by another client. Returns whether
    /// there is one.
    pub(super) fn follow_totals(&mut self, path: &str, chunk: &mut Chunk) -> bool {
        let Some((row, place)) = chunk.total.take() else {
            if !chunk.responses.is_empty() {
                self.totals.remove(path);
            }
            return false;
        };
        if let Some(before) = self.totals.remove(path) {
            let place = place.min(chunk.responses.len());
            cursor::name_model(&mut chunk.responses[..place], &before, &row);
        }
        let is_over = place >= chunk.responses.len();
        if is_over {
            self.totals.insert(path.to_owned(), row);
        }
        is_over
    }
}
