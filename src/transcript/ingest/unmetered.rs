//! Responses whose rows call them free.

use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::{Charge, NewCharge};
use crate::engine::estimate;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::messages::notices;
use crate::transcript::belief::is_earlier;
use crate::transcript::charges::Charges;
use crate::transcript::first::first_request;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::response::Response;

impl<C: Charges> TranscriptIngest<'_, C> {
    /// Takes in a response that its row calls free. `is_first` is whether its file is read for the first time.
    pub(super) fn ingest_uncounted(
        &mut self,
        state: &mut SessionState,
        run: &str,
        response: &Response,
        is_first: bool,
    ) -> Result<()> {
        if is_billed(state) && !(is_first && is_earlier(state, response)) {
            return self.ingest_unmetered(state, run, response);
        }
        if let Some(run) = state.run_mut(run) {
            run.pay();
        }
        Ok(())
    }

    /// Charges a response that its row calls free as one that is missing: an agent can write on its transcript.
    fn ingest_unmetered(&mut self, state: &mut SessionState, run: &str, response: &Response) -> Result<()> {
        let session = state.session.id.clone();
        let is_copy = response.billed_by.as_ref().is_some_and(|billed| *billed != session);
        let Some(of) = state.run(run).filter(|_| !is_copy) else { return Ok(()) };
        let (mut spend, replay_price, context) = (estimate::missing_usage(state, of), of.replay_price, of.context);
        if spend.cost == Amount::ZERO {
            spend = first_request(state, self.prices.table(), response.at_ms, "");
        }
        if self.charges.find(&response.id, &session)?.is_some() {
            return Ok(());
        }
        let (message, model, at_ms) = (response.id.clone(), response.model.clone(), response.at_ms);
        let charge =
            Charge { message, session, run: run.to_owned(), model, at_ms, spend, context, ..Charge::default() };
        self.charges.keep(charge.clone())?;
        self.found.push((run.to_owned(), NewCharge { charge, adds: spend, again: spend, replay_price }));
        if state.session.mark_notified("unmetered") {
            self.remarks.push(notices::response_free());
        }
        Ok(())
    }
}

/// Whether what is called free is charged all the same: a client calls free what a mod has answered in the model's place.
fn is_billed(state: &SessionState) -> bool {
    state.session.is_metered || !state.session.has_mods
}
