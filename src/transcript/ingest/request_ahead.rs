//! What the request is expected to spend that an event leads to, where the run's last responses do not tell.

use crate::domain::conversation::{Conversation, Last};
use crate::domain::event::{Agent, Call, Event, EventKind, Intent};
use crate::domain::spend::meters::Spend;
use crate::engine::session_state::SessionState;
use crate::pricing::price;
use crate::pricing::table::canonical;
use crate::transcript::cache;
use crate::transcript::charges::Charges;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::response::Response;
use crate::transcript::stand_in::main_model;

/// Returns the run whose next request is asked about, and its conversation.
pub(super) fn asking<'a>(state: &'a SessionState, agent: &'a Agent) -> (&'a str, Conversation) {
    let (run, at) = match agent {
        Agent::Main => (state.session.main.as_deref(), Some(&state.session.position)),
        Agent::Sub { id, .. } => (Some(id.as_str()), state.run(id).and_then(|run| run.position.as_ref())),
    };
    (run.unwrap_or_default(), at.map(|at| at.conversation).unwrap_or_default())
}

impl<C: Charges> TranscriptIngest<'_, C> {
    /// Returns what the request at hand is expected to spend, where that is a compaction, or the cache does not have the
    /// conversation.
    pub fn request_ahead(&self, state: &SessionState, event: &Event) -> Spend {
        match &event.kind {
            EventKind::Compacting => self.compaction_ahead(state, event),
            EventKind::ToolRequested(Call { intent: Intent::Message { to }, .. }) => {
                let to = state.addressee(to).filter(|run| !run.is_main());
                let told = to.and_then(|run| run.position.as_ref()).map(|at| at.conversation);
                self.resent(state, to.map_or("", |run| &run.id), told.unwrap_or_default(), event)
            }
            EventKind::Prompt { .. }
            | EventKind::BatchEnded(_)
            | EventKind::SubagentStarted
            | EventKind::Stopped { .. }
            | EventKind::SubagentEnded(_) => {
                let (run, told) = asking(state, &event.agent);
                self.resent(state, run, told, event)
            }
            _ => Spend::default(),
        }
    }

    /// Returns what the next request of a conversation is expected to spend where it is written to the cache again, else nothing.
    fn resent(&self, state: &SessionState, run: &str, told: Conversation, event: &Event) -> Spend {
        let start = &state.session.client_start;
        // A client's first request is its prompt's. Below another client an agent decides what that is.
        let begins = start.is_silent && event.agent == Agent::Main && matches!(event.kind, EventKind::Prompt { .. });
        let last_model = self.last_model(state, run).unwrap_or_default();
        let named = state.facts.next_model.as_ref().map(|next| next.name.as_str());
        let model = named.or(start.model.as_deref().filter(|_| begins)).unwrap_or(last_model);
        let is_another = begins && !state.above.is_empty() || canonical(model) != canonical(last_model);
        let at_ms = event.at.wall_ms;
        // A fork has no transcript yet. What it took up is written again by another model, and for an agent.
        let last = match told.last.prompt {
            0 if begins && is_another => Last::of_length(start.context_tokens, at_ms),
            _ => told.last,
        };
        let Some(usage) = cache::resent(&last, at_ms, is_another) else { return Spend::default() };
        let table = self.prices.table();
        let stand_in = main_model(state, table, at_ms);
        let priced = price::price(table, model, at_ms, &usage, Some(&stand_in));
        Response { usage, ..Response::default() }.spend(&priced)
    }
}
